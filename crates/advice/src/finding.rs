//! What a rule says: fine, found, or not known. A finding carries its evidence and what to type.

use innopool_target::{Fact, Source};
use serde::Serialize;

/// How soon somebody should act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Good to know; nothing is wrong today.
    Notice,
    /// Costs something or will; act this week.
    Warning,
    /// Hurts now, or stops the server at any moment.
    Critical,
}

impl Severity {
    /// The word used in JSON and on the terminal.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Critical => "critical",
        }
    }
}

/// One number or word a finding rests on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EvidenceItem {
    /// What it is, in snake case: `disk_reads_per_second`.
    pub name: String,
    /// The value; a number wherever it is one.
    pub value: serde_json::Value,
    /// Its unit: `bytes`, `pages`, `per_second`, `seconds`, `ratio`, `per_mille`, or empty.
    pub unit: &'static str,
    /// Where it was read, or how it was computed.
    pub source: String,
}

impl EvidenceItem {
    /// An item from a fact.
    pub fn of<T: Clone + Into<serde_json::Value>>(
        name: &str,
        unit: &'static str,
        fact: &Fact<T>,
    ) -> Self {
        Self::new(name, unit, fact.value.clone(), fact.source.to_string())
    }

    /// An item computed from others; `source` says how.
    pub fn new(
        name: &str,
        unit: &'static str,
        value: impl Into<serde_json::Value>,
        source: impl Into<String>,
    ) -> Self {
        Self { name: name.to_owned(), value: value.into(), unit, source: source.into() }
    }
}

/// Something a person should know or do.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// Stable code, such as `pool-too-small`; `innopool explain CODE` says more.
    pub code: &'static str,
    /// How soon to act.
    pub severity: Severity,
    /// One line: what is so.
    pub summary: String,
    /// Why it matters here, in a sentence or two.
    pub why: String,
    /// What it rests on.
    pub evidence: Vec<EvidenceItem>,
    /// What to do and what to type for this flavour and version, lines separated by `\n`; lines
    /// that can be typed end with `;` or begin with `[`, `$` or a setting's name.
    pub action: String,
}

impl Finding {
    /// A finding without evidence yet.
    pub fn new(code: &'static str, severity: Severity, summary: impl Into<String>) -> Self {
        Self {
            code,
            severity,
            summary: summary.into(),
            why: String::new(),
            evidence: Vec::new(),
            action: String::new(),
        }
    }

    /// Says why it matters here.
    #[must_use]
    pub fn because(mut self, why: impl Into<String>) -> Self {
        self.why = why.into();
        self
    }

    /// Adds a number from a fact, if it is known.
    #[must_use]
    pub fn with<T: Clone + Into<serde_json::Value>>(
        mut self,
        name: &str,
        unit: &'static str,
        fact: Option<&Fact<T>>,
    ) -> Self {
        self.evidence.extend(fact.map(|fact| EvidenceItem::of(name, unit, fact)));
        self
    }

    /// Adds a number that was computed.
    #[must_use]
    pub fn with_item(mut self, item: EvidenceItem) -> Self {
        self.evidence.push(item);
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn act(mut self, action: impl Into<String>) -> Self {
        self.action = action.into();
        // Actions are put together from parts; the first line begins the sentence.
        if let Some(first) = self.action.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        self
    }

    /// Wraps it as a verdict.
    pub(crate) fn found(self) -> Verdict {
        Verdict::Found(Box::new(self))
    }
}

/// A rule's answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Looked at and fine; says the margin left where there is one to say.
    Fine(String),
    /// Something to know or do.
    Found(Box<Finding>),
    /// Could not be judged, with what is missing.
    Unknown(String),
    /// Has no meaning for this server.
    NotApplicable,
}

impl Verdict {
    pub(crate) fn fine(margin: impl Into<String>) -> Self {
        Self::Fine(margin.into())
    }

    pub(crate) fn unknown(missing: impl Into<String>) -> Self {
        Self::Unknown(missing.into())
    }
}

/// The source of a value computed from others.
pub(crate) fn computed(how: &str) -> Source {
    Source::new("computed", how)
}
