"""What the commands in bench/ share; standard library only, apart from generate.py."""
