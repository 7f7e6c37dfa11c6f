//! What only real sockets show: deadlines, senders that do not listen, and the stop.

mod deadlines;
mod framing;
mod overload;
mod room;
mod sending;
mod stalled;
mod stop;
mod unread;
