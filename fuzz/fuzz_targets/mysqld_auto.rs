//! `mysqld-auto.cnf`: whatever is in it, only variables that may be kept come out.

#![no_main]

use innopool_target::allow;
use innopool_target::read::mysqld_auto::parse;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(variables) = parse(text, "mysqld-auto.cnf") {
        for (name, variable) in variables.iter() {
            assert!(allow::is_variable(name), "{name}");
            assert!(variable.set_by.is_none());
        }
    }
});
