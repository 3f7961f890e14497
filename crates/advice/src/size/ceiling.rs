//! How large the pool may be here: the memory budget, and how far to trust it.

use super::report::{BudgetTerm, MemoryBudget};
use crate::facts::Facts;
use crate::memory::Budget;
use crate::thresholds::{BUDGET_GROWN_INTO, SWAP_IN};
use crate::words;

/// The two limits of a size.
pub(crate) struct Ceiling {
    /// No size above this is kept or recommended; `None` where memory is not known.
    pub(crate) hard_bytes: Option<u64>,
    /// No size above this is moved to.
    pub(crate) move_bytes: Option<u64>,
    /// The machine swaps in at today's size.
    pub(crate) swaps: bool,
    /// What limits the move below the budget, for people.
    pub(crate) held_back_by: Option<String>,
}

impl Ceiling {
    /// The limits of a server.
    pub(crate) fn of(facts: &Facts<'_>) -> Self {
        let swaps = facts
            .watched()
            .and_then(|interval| interval.swap_in_bytes_per_second.as_ref())
            .is_some_and(|rate| SWAP_IN.judge(rate.value).is_some());
        let Some(budget) = &facts.budget else {
            return Self { hard_bytes: None, move_bytes: None, swaps, held_back_by: None };
        };
        let three_quarters = budget.limit.value / 4 * 3;
        let (hard, held_back_by) = if swaps {
            // The sum has left something out, and what it was cannot be seen.
            let now = facts.pool.size_bytes.as_ref().map_or(u64::MAX, |size| size.value);
            let why = "the machine swaps in at today's size, so the budget is not believed beyond \
                       three quarters of memory, and the pool is not grown";
            (budget.pool_bytes.min(three_quarters).min(now), Some(why.to_owned()))
        } else {
            (budget.pool_bytes, None)
        };
        let (move_bytes, why) = grown_into(budget, hard);
        Self {
            hard_bytes: Some(hard),
            move_bytes: Some(move_bytes),
            swaps,
            held_back_by: held_back_by.or(why),
        }
    }

    /// True when a size may be had.
    pub(crate) fn allows(&self, bytes: u64) -> bool {
        self.hard_bytes.is_none_or(|hard| bytes <= hard)
    }
}

/// How much of the budget a pool is grown into.
fn grown_into(budget: &Budget, hard: u64) -> (u64, Option<String>) {
    // A share of a number below 2^64, and the cast saturates.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let most = (budget.pool_bytes as f64 * BUDGET_GROWN_INTO) as u64;
    if budget.measured {
        return (hard.min(most), None);
    }
    let three_quarters = budget.limit.value / 4 * 3;
    let why = (three_quarters < most).then(|| {
        format!(
            "parts of the memory budget of {} are assumed, so the pool is grown to three quarters \
             of memory at most",
            words::bytes(budget.pool_bytes)
        )
    });
    (hard.min(most).min(three_quarters), why)
}

/// The budget as it is shown; the ceiling is what the terms leave.
pub(crate) fn shown(facts: &Facts<'_>, ceiling: &Ceiling) -> MemoryBudget {
    let Some(budget) = &facts.budget else {
        return MemoryBudget::default();
    };
    let mut terms: Vec<BudgetTerm> = budget
        .terms
        .iter()
        .filter(|term| term.name != "pool_budget_bytes")
        .filter_map(|term| {
            Some(BudgetTerm {
                name: term.name.strip_suffix("_bytes").unwrap_or(&term.name).to_owned(),
                bytes: term.value.as_u64()?,
                source: term.source.clone(),
            })
        })
        .collect();
    if let Some(hard) = ceiling.hard_bytes.filter(|hard| *hard < budget.pool_bytes) {
        terms.push(BudgetTerm {
            name: "not_trusted_while_swapping".to_owned(),
            bytes: budget.pool_bytes - hard,
            source: "swap-ins while we watched".to_owned(),
        });
    }
    MemoryBudget { ceiling_bytes: ceiling.hard_bytes, terms }
}
