//! Listeners on loopback that are not MySQL servers, each in one of the ways that a tool meets.
