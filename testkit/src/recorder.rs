//! A proxy that records the statements sent to a server, and can keep its answers back.
