//! Holds the repository to its own rules: sizes, names, layers, licences and dependencies.

mod dependencies;
mod licence;
mod metadata;
mod rules;
mod samples;
mod source;
mod workspace;

use rules::Rule;
use source::Source;

/// Applies a rule to every file it is about, and fails with all that it finds.
fn hold(rule: Rule) {
    let faults: Vec<_> = workspace::files().iter().flat_map(rule).collect();
    report(&faults);
}

fn report(faults: &[String]) {
    assert!(faults.is_empty(), "{} to fix:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn files_are_short() {
    hold(rules::file_length);
}

#[test]
fn functions_are_short() {
    hold(rules::function_length);
}

#[test]
fn modules_open_with_their_job() {
    hold(rules::module_doc);
}

#[test]
fn comments_are_not_banners() {
    hold(rules::banner);
}

#[test]
fn nothing_is_left_undone() {
    hold(rules::unfinished);
}

#[test]
fn names_are_domain_words() {
    hold(rules::item_name);
}

#[test]
fn modules_are_named_for_a_job() {
    hold(rules::module_name);
}

#[test]
fn lints_are_expected_not_allowed() {
    hold(rules::allowed_lint);
}

#[test]
fn only_store_contains_sql() {
    hold(rules::sql);
}

#[test]
fn only_cli_reads_the_environment() {
    hold(rules::environment);
}

#[test]
fn tests_do_not_sleep() {
    hold(rules::sleeping);
}

#[test]
fn nothing_names_one_machine() {
    hold(rules::machine_path);
}

#[test]
fn nothing_names_a_registry() {
    hold(rules::registry);
}

#[test]
fn the_code_map_is_complete() {
    let map = Source::read("ARCHITECTURE.md");
    report(&rules::code_map(&workspace::crates(), &map));
}

#[test]
fn licences_are_on_the_list() {
    report(&licence::faults(metadata::get()));
}

#[test]
fn dependencies_are_used() {
    let files = workspace::files();
    report(&dependencies::unused(metadata::get(), files));
    report(&dependencies::unused_in_workspace(files));
}

#[test]
fn layers_are_kept() {
    report(&dependencies::crossed_layers(metadata::get()));
}

#[test]
fn trees_are_small() {
    // What compares tables stays light for those who need no more; what reads them has two databases, four kinds of object store, workbooks, protocols and their encryption, and the rest of the binary a runtime and a log.
    for (package, limit) in [("trueup-compare", 95), ("trueup-extract", 200), ("trueup-cli", 275)] {
        let crates = dependencies::tree(metadata::get(), package);
        assert!(
            crates.len() < limit,
            "{package}: {} crates, {limit} or more is too many:\n{crates:#?}",
            crates.len()
        );
    }
}
