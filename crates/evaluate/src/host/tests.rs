//! Hosts made of files, so that every kind of host is read on every machine, and the clocks of
//! real threads.

use super::*;

fn host(files: &[(&str, &str)]) -> Host {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    Host::read_under(folder.path())
}

#[test]
fn a_host_tells_what_its_files_say() {
    let host = host(&[
        ("proc/cpuinfo", "processor\t: 0\nmodel name\t: AMD EPYC\nstepping\t: 1\n"),
        ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n"),
        ("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n"),
        ("sys/devices/system/cpu/smt/active", "0\n"),
        ("proc/loadavg", "14.30 13.13 8.49 17/187 21742\n"),
        ("proc/stat", "cpu  10 20 30 400 50 6 7 8 0 0\ncpu0 1 2 3 4\n"),
        ("proc/self/stat", "7 (a ) b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14\n"),
    ]);
    assert_eq!(host.processor, "AMD EPYC");
    assert_eq!(host.governor.as_deref(), Some("powersave"));
    assert_eq!((host.turbo, host.smt), (Some(false), Some(false)));
    assert_eq!((host.load, host.cpu_quota, host.throttled), (Some(14.3), None, None));
    let busy = Busy { total: 531, idle: 450, steal: 8, own: 11 + 12 + 13 + 14 };
    assert_eq!(host.busy, Some(busy));
}

#[test]
fn a_host_without_files_or_with_damaged_ones_tells_nothing() {
    let empty = host(&[]);
    let processor = std::env::consts::ARCH.to_owned();
    assert_eq!(empty, Host { processor, ..Host::default() });
    let damaged = host(&[
        ("proc/cpuinfo", "model name"),
        ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", " \n"),
        ("sys/devices/system/cpu/cpufreq/boost", "yes"),
        ("proc/loadavg", "nan"),
        ("proc/stat", "cpu  1 2 three\n"),
        ("proc/self/stat", "7 (a) S 1"),
        ("proc/self/cgroup", "0:\n::\n0::/../..\n1:cpu:/x"),
        ("sys/fs/cgroup/cpu.max", "100000 0"),
        ("sys/fs/cgroup/cpu.stat", "nr_throttled -1"),
    ]);
    assert_eq!(damaged, empty);
}

#[test]
fn the_tightest_limit_of_all_groups_counts_in_the_second_version_of_cgroups() {
    let host = host(&[
        ("proc/self/cgroup", "0::/service/worker\n"),
        ("sys/fs/cgroup/service/worker/cpu.max", "max 100000\n"),
        ("sys/fs/cgroup/service/worker/cpu.stat", "usage_usec 5\nnr_throttled 2\n"),
        ("sys/fs/cgroup/service/cpu.max", "150000 100000\n"),
        ("sys/fs/cgroup/service/cpu.stat", "nr_periods 9\nnr_throttled 3\nthrottled_usec 8\n"),
    ]);
    assert_eq!((host.cpu_quota, host.throttled), (Some(1.5), Some(5)));
}

#[test]
fn a_container_finds_its_limit_where_its_own_group_is_mounted() {
    let lines = "9:name=systemd:/\n4:memory:/docker/x\n1:cpu,cpuacct:/docker/x\n0::/\n";
    let host = host(&[
        ("proc/self/cgroup", lines),
        ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "50000\n"),
        ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
        ("sys/fs/cgroup/cpu,cpuacct/cpu.stat", "nr_periods 4\nnr_throttled 4\n"),
        ("sys/fs/cgroup/memory/cpu.cfs_quota_us", "1\n"),
    ]);
    assert_eq!((host.cpu_quota, host.throttled), (Some(0.5), Some(4)));
}

#[test]
fn noise_is_the_difference_of_two_readings() {
    let at = |total, idle, steal, own, throttled| Host {
        busy: Some(Busy { total, idle, steal, own }),
        throttled: Some(throttled),
        ..Host::default()
    };
    let (start, end) = (at(1_000, 500, 10, 100, 3), at(1_200, 550, 30, 180, 5));
    let noise = end.noise_since(&start);
    // 200 ticks: 50 idle, 20 stolen, 80 our own, and 50 that others used.
    assert_eq!(noise.throttled, Some(2));
    assert_eq!((noise.others_share, noise.steal_share), (Some(0.25), Some(0.1)));
    // Without time between them, or backwards, there is no share and no panic.
    assert_eq!(start.noise_since(&start).others_share, None);
    assert_eq!(start.noise_since(&end).others_share, None);
    assert_eq!(end.noise_since(&Host::default()), Noise::default());
}

#[test]
fn this_host_is_read_and_survives_json() {
    let host = Host::read();
    assert!(host.processors > 0 && !host.processor.is_empty());
    let text = serde_json::to_string(&host).unwrap();
    assert_eq!(serde_json::from_str::<Host>(&text).unwrap(), host);
}

#[cfg(target_os = "linux")]
#[test]
fn the_clock_of_a_busy_thread_advances_and_that_of_a_waiting_one_hardly() {
    let start = thread_cpu_ns();
    let mut hash = 0;
    while thread_cpu_ns() - start < 2_000_000 {
        hash = xxhash_rust::xxh3::xxh3_64_with_seed(b"busy", hash);
    }
    let before = thread_cpu_ns();
    let busy = std::thread::spawn(move || {
        let start = thread_cpu_ns();
        while thread_cpu_ns() - start < 20_000_000 {
            hash = xxhash_rust::xxh3::xxh3_64_with_seed(b"busy", hash);
        }
        (thread_cpu_ns(), preemptions())
    });
    let (of_other, _) = busy.join().unwrap();
    assert!(of_other >= 20_000_000);
    // Another thread's 20 ms are not ours.
    assert!(thread_cpu_ns() - before < of_other);
    let preempted = preemptions();
    assert!(preemptions() >= preempted);
}
