//! Where a login comes from: URLs, the client's option files and login path files. The first byte
//! says which of them the rest is.

#![no_main]

use innopool_target::login::{Layer, LoginPathFile, OptionFiles, parse_url, resolve};
use innopool_target::read::option_file::{IncludeError, Includes};
use libfuzzer_sys::fuzz_target;

/// One option file, and none else.
struct OneFile<'t>(Option<&'t str>);

impl Includes for OneFile<'_> {
    fn file(&mut self, _: &str) -> Result<String, IncludeError> {
        self.0.take().map(str::to_owned).ok_or(IncludeError::Missing)
    }

    fn directory(&mut self, _: &str) -> Result<Vec<String>, IncludeError> {
        Ok(Vec::new())
    }
}

fn layer(kind: u8, rest: &[u8]) -> Option<Layer> {
    match kind {
        b'u' => parse_url(std::str::from_utf8(rest).ok()?).ok(),
        b'f' => {
            let files =
                OptionFiles { group_suffix: Some("-east".to_owned()), ..OptionFiles::default() };
            let text = std::str::from_utf8(rest).ok()?;
            Some(files.read_from(&mut OneFile(Some(text))).ok()?.layer)
        }
        _ => {
            let file = LoginPathFile::parse(rest, ".mylogin.cnf").ok()?;
            let name = file.names().last().map(String::as_str);
            file.layer(name, None).ok()
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Some((kind, rest)) = bytes.split_first() else {
        return;
    };
    if let Some(layer) = layer(*kind, rest) {
        let login = resolve(&[layer], &|_| false).login;
        assert!(!login.display_name().is_empty());
        assert!(login.port > 0);
    }
});
