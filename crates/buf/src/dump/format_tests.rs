//! The dump file, line by line: what is written, what is read, and what a damaged file says.

use proptest::prelude::*;

use super::*;

fn read(text: &[u8]) -> Parsed {
    parse(text).unwrap()
}

fn pages(pairs: &[(u32, u32)]) -> Vec<PageId> {
    pairs.iter().map(|&(space, page_no)| PageId::new(space, page_no)).collect()
}

fn first_bad(text: &[u8]) -> (u64, BadLineReason) {
    let first = read(text).bad_lines.into_iter().next().unwrap();
    (first.line, first.why)
}

#[test]
fn the_bytes_are_those_of_a_server() {
    let mut file = Vec::new();
    write(&mut file, pages(&[(4_294_967_294, 472), (0, 0), (5, u32::MAX)])).unwrap();
    assert_eq!(file, b"4294967294,472\n0,0\n5,4294967295\n");
}

#[test]
fn what_a_server_takes_is_taken() {
    let parsed = read(b"0,5\r\n  0, 7 \r\n\r\n\n4294967294,472\n");
    assert_eq!(parsed.pages, pages(&[(0, 5), (0, 7), (4_294_967_294, 472)]));
    assert_eq!((parsed.lines, parsed.bad_lines_total, parsed.truncated), (5, 0, false));
    parsed.check("f").unwrap();
}

#[test]
fn an_empty_file_has_no_pages_and_nothing_wrong() {
    assert_eq!(read(b""), Parsed::default());
}

#[test]
fn a_bad_line_is_named_and_the_others_are_kept() {
    let parsed = read(b"1,2\nhello, world\n1,3\n");
    assert_eq!(parsed.pages, pages(&[(1, 2), (1, 3)]));
    let error = parsed.check("/data/ib_buffer_pool").unwrap_err().to_string();
    assert!(error.starts_with("/data/ib_buffer_pool:2: `hello, world` is not"), "{error}");
    assert!(error.contains("2 pages can be salvaged"), "{error}");
}

#[test]
fn each_kind_of_bad_line_is_told_apart() {
    for text in ["5", "5;6", "5,6,7", "-1,5", "+1,5", "1,2 3,4", "1,", ",1", "1 1,5", "0x1,2"] {
        let line = format!("{text}\n");
        assert_eq!(first_bad(line.as_bytes()), (1, BadLineReason::NotAPair(text.into())));
    }
    let large = |text: &str| text.to_owned();
    for (line, why) in [
        ("4294967296,3\n", BadLineReason::SpaceTooLarge(large("4294967296"))),
        ("1,4294967296\n", BadLineReason::PageTooLarge(large("4294967296"))),
        (
            "1,99999999999999999999999\n",
            BadLineReason::PageTooLarge(large("99999999999999999999999")),
        ),
        ("1,\0\n", BadLineReason::Binary),
    ] {
        assert_eq!(first_bad(line.as_bytes()), (1, why));
    }
    assert_eq!(first_bad(b"1,\xFF\n"), (1, BadLineReason::NotAPair("1,\u{FFFD}".into())));
}

#[test]
fn a_cut_off_last_line_is_not_believed() {
    for text in [&b"1,2\n1,35"[..], b"1,2\n42949", b"1,2\n1,"] {
        let parsed = read(text);
        assert_eq!(parsed.pages, pages(&[(1, 2)]));
        assert!(parsed.truncated);
        assert_eq!(first_bad(text), (2, BadLineReason::CutOff));
    }
}

#[test]
fn a_long_line_is_one_bad_line_and_is_not_kept() {
    for (bytes, why) in [
        (LINE_BYTES_MAX, BadLineReason::NotAPair("1".repeat(32))),
        (LINE_BYTES_MAX + 1, BadLineReason::TooLong),
        (10 * (LINE_BYTES_MAX + 1), BadLineReason::TooLong),
    ] {
        let text = ["1,2\n".to_owned(), "1".repeat(bytes), "\n3,4\n".to_owned()].concat();
        let parsed = read(text.as_bytes());
        assert_eq!(parsed.pages, pages(&[(1, 2), (3, 4)]), "{bytes}");
        assert_eq!((parsed.lines, parsed.bad_lines_total), (3, 1));
        assert_eq!(parsed.bad_lines[0].why, why);
        let cut = &text.as_bytes()[..4 + bytes];
        assert_eq!(first_bad(cut), (2, BadLineReason::CutOff), "{bytes}");
    }
}

#[test]
fn bad_lines_beyond_a_hundred_are_counted() {
    let parsed = read("x\n".repeat(250).as_bytes());
    assert_eq!((parsed.bad_lines.len(), parsed.bad_lines_total), (100, 250));
}

proptest! {
    #[test]
    fn what_is_written_is_read(pairs in prop::collection::vec((any::<u32>(), any::<u32>()), 0..200)) {
        let mut file = Vec::new();
        write(&mut file, pages(&pairs)).unwrap();
        let parsed = read(&file);
        prop_assert_eq!(parsed.pages, pages(&pairs));
        prop_assert_eq!(parsed.bad_lines_total, 0);
    }

    /// However the input comes in pieces, it is the same.
    #[test]
    fn pieces_do_not_matter(
        text in prop::collection::vec(prop::sample::select(b"1,4\n\r x\0".to_vec()), 0..400),
        piece in 1usize..80,
    ) {
        let whole = read(&text);
        let pieces = parse(io::BufReader::with_capacity(piece, &text[..])).unwrap();
        prop_assert_eq!(&whole, &pieces);
        let line_ends = text.iter().filter(|&&byte| byte == b'\n').count() as u64;
        prop_assert_eq!(whole.lines, line_ends + u64::from(whole.truncated));
    }
}
