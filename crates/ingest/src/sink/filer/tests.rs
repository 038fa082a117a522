//! Names of folders: whatever a client calls its pool, it is one folder below the filer's, and
//! another one for every other name.

use std::collections::HashSet;

use super::folder_name;

#[test]
fn no_name_leads_out_of_the_folder_and_no_two_names_share_one() {
    let long = "x".repeat(300);
    let longer = "x".repeat(301);
    let names =
        ["web", "web.1", ".", "..", "../up", "a/b", "a%2Fb", "", ".hidden", "é", &long, &longer];
    let folders: HashSet<String> = names.iter().map(|name| folder_name(name)).collect();
    assert_eq!(folders.len(), names.len());
    for folder in &folders {
        assert!(!folder.contains('/') && !folder.starts_with('.'), "{folder}");
        assert!(folder.len() <= 255, "{folder}");
    }
    assert_eq!(folder_name("web-1_a.b"), "web-1_a.b");
}
