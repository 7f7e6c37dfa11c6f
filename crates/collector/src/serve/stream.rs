//! The bytes of a connection.
//!
//! A reader that asks for a large answer and takes none of it holds that answer in memory. So a connection is closed
//! once bytes have waited for [`Settings::write_deadline`](crate::Settings) and the socket took none of them. While
//! nothing waits to be written no time runs: a live stream on which nothing happens stays.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, Bytes};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Sleep;

use super::connections::Connection;
use super::refusal::{refusal, refusal_for};
use crate::metrics::ConnectionMetrics;

/// Bytes the system keeps that were not sent to a reader yet. Beyond them the socket takes nothing. So what it takes is
/// soon what the reader takes, and a reader that does not read costs this much, not megabytes.
#[cfg(target_os = "linux")]
const UNSENT_MAX: u32 = 128 << 10;
/// How long a client may go on sending after what it sent was no request, and how much.
const REST_TIME_MAX: Duration = Duration::from_secs(1);
const REST_BYTES_MAX: usize = 1 << 20;

/// Bounds what the system keeps for each connection of an address.
#[cfg(target_os = "linux")]
pub(super) fn bound_unsent(listener: &TcpListener) {
    // Its connections inherit it.
    if let Err(error) = socket2::SockRef::from(listener).set_tcp_notsent_lowat(UNSENT_MAX) {
        tracing::debug!(error = &error as &dyn std::error::Error, "the system keeps as much as it does");
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn bound_unsent(_: &TcpListener) {}

pub(super) struct Stream {
    tcp: TcpStream,
    connection: Connection,
    metrics: ConnectionMetrics,
    write_deadline: Duration,
    /// Runs while a write waits.
    waits: Option<Pin<Box<Sleep>>>,
    end: End,
}

/// How the connection ends.
enum End {
    /// As the library ends it.
    Open,
    /// With an answer in the place of the library's own, of which this is left.
    Refusing(Bytes),
    /// What the client still sends is read and dropped, or it would not see that answer.
    Reading { bytes: usize, until: Pin<Box<Sleep>> },
}

impl Stream {
    pub(super) fn new(
        tcp: TcpStream,
        connection: Connection,
        write_deadline: Duration,
        metrics: ConnectionMetrics,
    ) -> Self {
        Self { tcp, connection, metrics, write_deadline, waits: None, end: End::Open }
    }

    /// Lets time run while a write waits.
    fn watch(&mut self, written: Poll<io::Result<usize>>, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.waits = None;
            return written;
        }
        let deadline = self.write_deadline;
        ready!(self.waits.get_or_insert_with(|| Box::pin(tokio::time::sleep(deadline))).as_mut().poll(cx));
        self.metrics.stalled.inc();
        // What the system still keeps is not for a reader that does not read.
        let _ = self.tcp.set_zero_linger();
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }

    /// Writes the rest of the answer in the place of `bytes` bytes of another.
    fn refuse(&mut self, bytes: usize, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        while let End::Refusing(rest) = &mut self.end
            && rest.has_remaining()
        {
            let written = Pin::new(&mut self.tcp).poll_write(cx, rest);
            if let Poll::Ready(Ok(written)) = written {
                rest.advance(written);
            }
            ready!(self.watch(written, cx))?;
        }
        Poll::Ready(Ok(bytes))
    }

    /// Reads on for a while.
    fn read_rest(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let End::Reading { bytes, until } = &mut self.end else { return Poll::Ready(()) };
        let mut piece = [0; 8 << 10];
        while *bytes < REST_BYTES_MAX && until.as_mut().poll(cx).is_pending() {
            let mut read = ReadBuf::new(&mut piece);
            match ready!(Pin::new(&mut self.tcp).poll_read(cx, &mut read)) {
                Ok(()) if !read.filled().is_empty() => *bytes += read.filled().len(),
                _ => break,
            }
        }
        Poll::Ready(())
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_read(cx, buf)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        if let End::Open = self.end
            && let Some(answer) = refusal_for(buf)
        {
            self.end = End::Refusing(answer);
        }
        if let End::Refusing(_) = self.end {
            return self.refuse(buf.len(), cx);
        }
        let written = Pin::new(&mut self.tcp).poll_write(cx, buf);
        self.watch(written, cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if let End::Open = self.end
            && let Some(answer) = refusal(bufs)
        {
            self.end = End::Refusing(answer);
        }
        if let End::Refusing(_) = self.end {
            return self.refuse(bufs.iter().map(|buf| buf.len()).sum(), cx);
        }
        let written = Pin::new(&mut self.tcp).poll_write_vectored(cx, bufs);
        self.watch(written, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.tcp.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // It is called when all has been written.
        self.connection.flushed();
        Pin::new(&mut self.tcp).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let End::Open | End::Refusing(_) = self.end {
            ready!(Pin::new(&mut self.tcp).poll_shutdown(cx))?;
        }
        if let End::Refusing(_) = self.end {
            self.end = End::Reading { bytes: 0, until: Box::pin(tokio::time::sleep(REST_TIME_MAX)) };
        }
        ready!(self.read_rest(cx));
        Poll::Ready(Ok(()))
    }
}
