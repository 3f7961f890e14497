//! What a later moment takes over from the one before: all that does not change by itself within
//! minutes. Counters and gauges of the database are not taken over: an old counter in a new moment
//! would read as "nothing happened". Nothing is ever copied back to an earlier moment.

use crate::evidence::Evidence;
use crate::variables::{Origin, Variables};
use crate::version::Flavor;

/// Completes `later` from the moment before it.
pub(super) fn complete(later: &mut Evidence, earlier: Option<&Evidence>) {
    let Some(earlier) = earlier else {
        return;
    };
    if later.server.version.is_none()
        && (later.server.flavor == Flavor::Unknown || later.server.flavor == earlier.server.flavor)
    {
        later.server = earlier.server.clone();
    }
    inherit_variables(&mut later.variables, &earlier.variables);
    if later.persisted.is_none() {
        later.persisted.clone_from(&earlier.persisted);
    }
    if later.configuration.files.is_empty() {
        later.configuration.clone_from(&earlier.configuration);
    }
    if later.data.is_none() {
        later.data.clone_from(&earlier.data);
    }
    if later.memory.is_none() {
        later.memory.clone_from(&earlier.memory);
    }
    match (&mut later.host, &earlier.host) {
        (Some(later), Some(earlier)) => crate::host::inherit(later, earlier),
        (later @ None, Some(earlier)) => {
            let host = later.get_or_insert_default();
            crate::host::inherit(host, earlier);
        }
        (_, None) => {}
    }
    inherit_log_events(later, earlier);
}

/// Adds variables not read again, and where an unchanged value came from.
fn inherit_variables(later: &mut Variables, earlier: &Variables) {
    for (name, before) in earlier.iter() {
        match later.get_mut(name) {
            None => later.insert_whole(name, before.clone()),
            Some(now) if now.origin == Origin::Unknown && now.value == before.value => {
                now.origin = before.origin.clone();
                now.set_at.clone_from(&before.set_at);
                now.set_by.clone_from(&before.set_by);
            }
            Some(_) => {}
        }
    }
}

/// A log only grows: events of both moments, each once, in the order they were read.
fn inherit_log_events(later: &mut Evidence, earlier: &Evidence) {
    let mut events = earlier.log_events.clone();
    for event in std::mem::take(&mut later.log_events) {
        if !events.contains(&event) {
            events.push(event);
        }
    }
    later.log_events = events;
}
