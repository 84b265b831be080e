// SPDX-License-Identifier: GPL-2.0-only

use super::*;

fn on(installed: bool, text: &str) -> Result<Vec<Case>, String> {
    cases(
        text,
        &Host {
            cpus: 8,
            program: "/bin/scx_sibling",
            which: &|name| installed.then(|| format!("/usr/bin/{name}")),
            place: &|place| place != "node",
        },
    )
}

fn names(text: &str) -> Vec<String> {
    let cases = on(true, text).unwrap();
    cases.into_iter().map(|case| case.name).collect()
}

#[test]
fn sizes_make_cases() {
    let want = [
        "pipe place=same",
        "pipe place=smt",
        "pipe place=core",
        "pipe place=llc",
        "pipe place=unbound",
    ];
    assert_eq!(names("pipe"), want, "the machine has no second node");
    assert_eq!(names("pipe:place=node"), ["pipe place=node"], "asked for");
    let tbench: Vec<_> = ["1", "2", "8", "16"]
        .map(|n| format!("tbench clients={n}"))
        .into();
    assert_eq!(names("tbench"), tbench);
    let hackbench = names("hackbench:groups=1/2,fds=10,loops=50");
    assert_eq!(
        hackbench,
        ["hackbench groups=1,fds=10", "hackbench groups=2,fds=10"]
    );
    assert_eq!(names("schbench"), ["schbench"]);
}

#[test]
fn every_load_has_a_command_with_its_parameters() {
    for load in &LOADS {
        for case in on(true, load.name).unwrap() {
            assert!(case.argv[0].starts_with('/'), "{case:?}");
            for (_, value) in case.params.iter().filter(|(_, v)| v != "no") {
                assert!(case.argv.contains(value), "{value} in {case:?}");
            }
        }
    }
    let rr = &on(true, "rr").unwrap()[1];
    assert!(rr.argv.ends_with(&["--bind".into(), "0".into()]), "{rr:?}");
}

#[test]
fn what_is_wrong_is_named() {
    let refusal = |text| on(true, text).unwrap_err();
    assert!(refusal("hackbnech").contains("did you mean hackbench?"));
    assert!(refusal("pipe:plaec=same").contains("did you mean place?"));
    assert!(refusal("pipe:loops").contains("NAME=VALUE"));
    assert!(refusal("hackbench:loops=many").contains("no number"));
    let missing = on(false, "tbench").unwrap_err();
    assert!(missing.contains("apt install dbench"), "{missing}");
}

#[test]
fn a_command_of_the_user_s() {
    let timed = command("make -j4", None, Better::Lower).unwrap();
    assert_eq!(timed.argv, ["/bin/sh", "-c", "make -j4"]);
    let rate = command("x", Some(r"fps=([0-9.]+)"), Better::Higher).unwrap();
    assert_eq!(rate.read("fps=60.5", 1.0), Ok(vec![60.5]));
    assert!(command("x", Some("("), Better::Higher).is_err());
}
