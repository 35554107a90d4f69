//! What pages of documentation show, for tests that hold them to it.

/// The code blocks of a language on a page, without their fences.
pub fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let code = page.split("\n```").skip(1).step_by(2);
    code.filter_map(|block| block.split_once('\n'))
        .filter(|(of, _)| *of == language)
        .map(|(_, text)| text)
        .collect()
}

#[test]
fn blocks_are_told_by_their_language() {
    let page = "# Page\n\n```sh\nls\n```\n\nText ``` here.\n\n```sql\nselect 1;\nselect 2;\n```\n\n```\nplain\n```\n\n```sql\nselect 3;\n```\n";
    assert_eq!(blocks(page, "sql"), ["select 1;\nselect 2;", "select 3;"]);
    assert_eq!(blocks(page, "sh"), ["ls"]);
    assert_eq!(blocks(page, ""), ["plain"]);
}
