//! The parts of the InnoDB status text that may be kept.

/// The lines that concern the pool, the redo log and the history list; no line of a section that
/// can hold a statement, an account or a host.
pub(crate) fn keep_pool_sections(text: &str) -> String {
    const SECTIONS: &[&str] = &[
        "LOG",
        "BUFFER POOL AND MEMORY",
        "INDIVIDUAL BUFFER POOL INFO",
    ];
    let mut kept = String::new();
    let mut inside = false;
    let mut rule = false;
    for line in text.lines() {
        let is_rule = line.len() >= 3 && line.bytes().all(|byte| matches!(byte, b'-' | b'='));
        // A section's title stands between two rules.
        if rule && !is_rule {
            inside = SECTIONS.contains(&line.trim());
            if inside {
                kept.push_str("---\n");
            }
        }
        let alone = line.starts_with("Per second averages calculated from")
            || line.starts_with("History list length")
            || line.starts_with("END OF INNODB MONITOR OUTPUT");
        if alone || (inside && (!is_rule || rule)) {
            kept.push_str(line);
            kept.push('\n');
        }
        rule = is_rule;
    }
    kept
}
