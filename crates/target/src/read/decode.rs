//! Bytes of a pasted file into text.

use std::borrow::Cow;

/// Decodes UTF-8, or UTF-16 where a byte order mark or the zero bytes of plain English say so. What
/// does not decode becomes U+FFFD.
pub(crate) fn text(bytes: &[u8]) -> Cow<'_, str> {
    match bytes {
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest),
        _ if zeros_at(bytes, 1) => utf16(bytes, u16::from_le_bytes),
        _ if zeros_at(bytes, 0) => utf16(bytes, u16::from_be_bytes),
        _ => String::from_utf8_lossy(bytes),
    }
}

/// True when most of the first bytes at this side of their pairs are zero.
fn zeros_at(bytes: &[u8], side: usize) -> bool {
    let pairs = bytes.as_chunks::<2>().0;
    let pairs = pairs.get(..pairs.len().min(512)).unwrap_or(pairs);
    let zeros = pairs.iter().filter(|pair| pair.get(side) == Some(&0)).count();
    !pairs.is_empty() && zeros * 4 > pairs.len() * 3
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Cow<'_, str> {
    let units = bytes.as_chunks::<2>().0.iter().map(|pair| unit(*pair));
    let text: String =
        char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    Cow::Owned(text.trim_start_matches('\u{feff}').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_windows_writes() {
        let wide = |order: fn(u16) -> [u8; 2]| -> Vec<u8> {
            "Uptime\t5 \u{2713}".encode_utf16().flat_map(order).collect()
        };
        let little = wide(u16::to_le_bytes);
        let big = wide(u16::to_be_bytes);
        assert_eq!(text(&[&[0xff, 0xfe], &little[..]].concat()), "Uptime\t5 \u{2713}");
        assert_eq!(text(&[&[0xfe, 0xff], &big[..]].concat()), "Uptime\t5 \u{2713}");
        assert_eq!(text(&little), "Uptime\t5 \u{2713}");
        assert_eq!(text(&big), "Uptime\t5 \u{2713}");
        assert_eq!(text(b"\xef\xbb\xbfUptime\xff"), "Uptime\u{fffd}");
        assert_eq!(text(b""), "");
        assert_eq!(text(b"\0"), "\0");
    }
}
