//! How much memory a comparison may use.

use std::fs;
use std::path::Path;

use trueup_job::Memory;

use crate::failure::Failure;

/// Assumed to be free where the system does not tell.
const UNKNOWN_FREE: u64 = 4 << 30;
/// The program itself and what its threads read into take most of this; less would not be kept.
const LEAST: u64 = 48 << 20;
/// Why a job that allows less cannot be carried out.
pub(crate) const TOO_LITTLE: &str = "memory: at least 48MiB are needed";
/// What is used of what is free, unless a job says otherwise.
const DEFAULT_PERCENT: u8 = 60;

/// Reads `2GB`, `512MiB` or `25%` of what is free.
pub(crate) fn parse(text: &str, free: impl Fn() -> u64) -> Result<u64, Failure> {
    let refused = |what: &str| {
        Failure::usage_hint(
            format!("--memory {text}: {what}"),
            "write 2GB, 512MiB, or a share of what is free such as 60%",
        )
    };
    let trimmed = text.trim();
    let split = trimmed
        .find(|character: char| !character.is_ascii_digit() && character != '.')
        .unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(split);
    let number: f64 = number.parse().map_err(|_| refused("this is no size"))?;
    let unit_bytes = match unit.trim().to_ascii_lowercase().as_str() {
        "%" if number > 100.0 => return Err(refused("there is no more than 100%")),
        "%" => free() as f64 / 100.0,
        "" | "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        "t" | "tb" => 1e12,
        "kib" => 1024.0,
        "mib" => 1024.0 * 1024.0,
        "gib" => 1024.0 * 1024.0 * 1024.0,
        "tib" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => return Err(refused("this is no unit")),
    };
    #[expect(clippy::cast_sign_loss, reason = "both factors are read without a sign")]
    let bytes = (number * unit_bytes) as u64;
    // A share of little is still given the least that works; a size asked for is taken at its word or refused.
    match bytes {
        enough if enough >= LEAST => Ok(enough),
        _ if unit.contains('%') => Ok(LEAST),
        _ => Err(refused(&format!("at least {}MiB are needed", LEAST >> 20))),
    }
}

/// What a job asks for, in bytes; none if it asks for less than works.
pub(crate) fn of_job(memory: Option<Memory>, free: impl Fn() -> u64) -> Option<u64> {
    match memory.unwrap_or(Memory::Percent(DEFAULT_PERCENT)) {
        Memory::Bytes(bytes) => Some(bytes).filter(|bytes| *bytes >= LEAST),
        Memory::Percent(share) => Some((free() / 100 * u64::from(share)).max(LEAST)),
    }
}

/// Bytes that can be used without pushing anything out: of the machine, or of the container if that has fewer.
pub(crate) fn free() -> u64 {
    // Only Linux has these files; what cannot be read or understood does not limit anything.
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| available(&text));
    let group = fs::read_to_string("/proc/self/cgroup")
        .ok()
        .and_then(|own| group_room(Path::new("/sys/fs/cgroup"), &own));
    machine.into_iter().chain(group).min().unwrap_or(UNKNOWN_FREE)
}

fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    // A line in another form is as good as none.
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// The least room among the groups (cgroup v2) that the process is in, from its own up to the root.
fn group_room(root: &Path, own: &str) -> Option<u64> {
    let path = own.lines().find_map(|line| line.strip_prefix("0::"))?.trim_start_matches('/');
    let own = root.join(path);
    let groups = own.ancestors().take_while(|group| group.starts_with(root));
    // What cannot be read, or is no number, limits nothing: the root has no such file, and a group without a limit says `max`.
    let number =
        |group: &Path, file: &str| fs::read_to_string(group.join(file)).ok()?.trim().parse::<u64>().ok();
    groups
        .filter_map(|group| {
            let most = number(group, "memory.max")?;
            Some(most.saturating_sub(number(group, "memory.current").unwrap_or(0)))
        })
        .min()
}

#[cfg(test)]
mod tests {
    use trueup_job::Memory;

    use super::{available, group_room, of_job, parse};

    #[test]
    fn sizes() {
        let cases = [
            ("2GB", Some(2_000_000_000)),
            ("512MiB", Some(512 << 20)),
            ("1.5g", Some(1_500_000_000)),
            ("25%", Some(250_000_000)),
            ("0.1%", Some(48 << 20)),
            ("48MiB", Some(48 << 20)),
            ("47MiB", None),
            ("100000000", Some(100_000_000)),
            ("101%", None),
            ("1kB", None),
            ("2XB", None),
            ("much", None),
            ("-1GB", None),
        ];
        for (text, bytes) in cases {
            assert_eq!(parse(text, || 1_000_000_000).ok(), bytes, "{text}");
        }
    }

    #[test]
    fn sizes_of_jobs() {
        let cases = [
            (None, Some(600_000_000)),
            (Some(Memory::Percent(25)), Some(250_000_000)),
            (Some(Memory::Percent(1)), Some(48 << 20)),
            (Some(Memory::Bytes(64 << 20)), Some(64 << 20)),
            (Some(Memory::Bytes(1 << 20)), None),
        ];
        for (memory, bytes) in cases {
            assert_eq!(of_job(memory, || 1_000_000_000), bytes, "{memory:?}");
        }
    }

    #[test]
    fn what_is_free() {
        assert_eq!(available("MemTotal: 9 kB\nMemAvailable:    2048 kB\n"), Some(2 << 20));
        assert_eq!(available("MemTotal: 9 kB\n"), None);

        let root = tempfile::tempdir().unwrap();
        let inner = root.path().join("a/b");
        std::fs::create_dir_all(&inner).unwrap();
        std::fs::write(inner.join("memory.max"), "max\n").unwrap();
        std::fs::write(root.path().join("a/memory.max"), "1000\n").unwrap();
        std::fs::write(root.path().join("a/memory.current"), "400\n").unwrap();
        assert_eq!(group_room(root.path(), "0::/a/b\n"), Some(600));
        assert_eq!(group_room(root.path(), "0::/\n"), None);
        assert_eq!(group_room(root.path(), "1:name=systemd:/\n"), None);
    }
}
