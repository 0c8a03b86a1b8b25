//! Memory that is free: of the machine, and of the control groups that the process is in.

use std::fs;
use std::path::{Path, PathBuf};

/// Memory that a process may still take \[bytes\]: the least of what the machine has free and what its control groups,
/// of version 1 or 2, and those around them leave it. None where the system does not tell (other than Linux).
pub fn available_memory() -> Option<u64> {
    available(Path::new("/"))
}

/// The same with the files of the system below `root`.
fn available(root: &Path) -> Option<u64> {
    let machine = field(&root.join("proc/meminfo"), "MemAvailable:").map(|kib| kib.saturating_mul(1024));
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let left = groups.lines().filter_map(|line| group(root, line));
    machine.into_iter().chain(left).min()
}

/// Names of the files of a control group.
struct Files {
    limit: &'static str,
    usage: &'static str,
    /// Of `memory.stat`: memory of files that the kernel takes back where it is needed.
    inactive: &'static str,
}

const VERSION_1: Files =
    Files { limit: "memory.limit_in_bytes", usage: "memory.usage_in_bytes", inactive: "total_inactive_file" };
const VERSION_2: Files = Files { limit: "memory.max", usage: "memory.current", inactive: "inactive_file" };

/// What the group of a line of `/proc/self/cgroup` and those around it leave.
fn group(root: &Path, line: &str) -> Option<u64> {
    let mut parts = line.splitn(3, ':').skip(1);
    let (controllers, path) = (parts.next()?, parts.next()?);
    let (top, files) = match controllers {
        "" => ("sys/fs/cgroup", VERSION_2),
        list if list.split(',').any(|c| c == "memory") => ("sys/fs/cgroup/memory", VERSION_1),
        _ => return None,
    };
    let top = root.join(top);
    // In a container the path may be that of the host, which is not there: its groups are skipped, the top is its own.
    let inner: PathBuf = top.join(path.trim_start_matches('/'));
    let folders = inner.ancestors().take_while(|folder| folder.starts_with(&top));
    folders.filter_map(|folder| left(folder, &files)).min()
}

/// What one group leaves; none without a limit.
fn left(folder: &Path, files: &Files) -> Option<u64> {
    let number = |name: &str| fs::read_to_string(folder.join(name)).ok()?.trim().parse::<u64>().ok();
    let limit = number(files.limit)?;
    let inactive = field(&folder.join("memory.stat"), files.inactive).unwrap_or(0);
    Some(limit.saturating_sub(number(files.usage).unwrap_or(0).saturating_sub(inactive)))
}

/// The number behind `key` in a file of keys and numbers.
fn field(file: &Path, key: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.split_whitespace().next() == Some(key))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A root with these files.
    fn system(name: &str, files: &[(&str, &str)]) -> PathBuf {
        let root = std::env::temp_dir().join(format!("diffkern-machine-{}-{name}", std::process::id()));
        for (file, text) in files {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    #[test]
    fn the_tightest_group_counts_and_caches_are_free() {
        let machine = ("proc/meminfo", "MemTotal: 64000 kB\nMemAvailable:   32000 kB\n");
        let second = [
            machine,
            ("proc/self/cgroup", "0::/user/job\n"),
            ("sys/fs/cgroup/user/memory.max", "9000000\n"),
            ("sys/fs/cgroup/user/memory.current", "5000000\n"),
            ("sys/fs/cgroup/user/memory.stat", "anon 1\ninactive_file 2000000\n"),
            ("sys/fs/cgroup/user/job/memory.max", "max\n"),
        ];
        let first = [
            machine,
            ("proc/self/cgroup", "5:cpu:/x\n4:memory,pids:/not/mounted\n0::/\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "7000000\n"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "1000000\n"),
            ("sys/fs/cgroup/memory/memory.stat", "total_inactive_file 500000\n"),
        ];
        for (name, files, expected) in [
            ("none", &[machine][..], Some(32_768_000)),
            ("second", &second[..], Some(6_000_000)),
            ("first", &first[..], Some(6_500_000)),
            ("nothing", &[("other", "")][..], None),
        ] {
            let root = system(name, files);
            assert_eq!(available(&root), expected, "{name}");
            fs::remove_dir_all(root).unwrap();
        }
    }

    #[test]
    fn this_machine_has_some() {
        assert!(!cfg!(target_os = "linux") || available_memory().is_some_and(|bytes| bytes > 1 << 20));
    }
}
