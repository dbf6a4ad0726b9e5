//! The socket by io_uring: what a wake-up sends and the next sleep are one system call, and what arrives is in memory
//! when it returns.
//!
//! A multishot read stays under way and takes datagrams off the socket whenever the program is in the kernel. The
//! datagrams of a train are linked, so that each waits until the one before has left, also where the kernel's buffer is
//! full; the link is a hard one, which a datagram that cannot be sent does not break.

use std::io;
use std::os::fd::RawFd;
use std::time::Duration;

use io_uring::types::{Fd, SubmitArgs, Timespec};
use io_uring::{cqueue, opcode, squeue, EnterFlags, IoUring};

use super::arrivals::{Arrivals, BUFFERS, GROUP};
use super::departures::Departures;
use super::{Datagram, RECEIVE_BATCH};
use crate::error::{Error, Result};
use crate::train::{Outgoing, Train};

/// Datagrams sent by one system call.
const SEND_BATCH: usize = 64;

/// Room for a train and the read.
const SUBMISSIONS: u32 = 2 * SEND_BATCH as u32;

/// Room for an answer to everything that can be under way.
const COMPLETIONS: u32 = 2 * (BUFFERS + SEND_BATCH) as u32;

/// What an answer is about.
const READ: u64 = 0;
const SENT: u64 = 1;

pub struct Ring {
    // The kernel uses the memory of the fields below until this one is gone, and fields are dropped in their order.
    uring: IoUring,
    arrivals: Arrivals,
    departures: Departures,
    socket: Fd,
    /// The read is under way.
    reading: bool,
    /// Datagrams that are under way.
    sending: usize,
}

impl Ring {
    /// An io_uring for `socket`, if the kernel has one that can all this (6.1 or later) and lets this process use it.
    pub fn for_socket(socket: RawFd) -> io::Result<Self> {
        // The work is done where this thread waits for it, and nowhere else: no signal interrupts the program, and in
        // virtual time it happens at the same point in each run.
        let uring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_submit_all()
            .setup_cqsize(COMPLETIONS)
            .build(SUBMISSIONS)?;
        let arrivals = Arrivals::register(&uring.submitter())?;
        let departures = Departures::with_room_for(SEND_BATCH);
        Ok(Self { uring, arrivals, departures, socket: Fd(socket), reading: false, sending: 0 })
    }

    /// See `Socket::exchange`.
    pub fn exchange(
        &mut self,
        train: &mut Train,
        wait: Duration,
        mut take: impl FnMut(&mut Train, Datagram<'_>) -> Result<()>,
    ) -> Result<bool> {
        let (last, before) = batches(train.datagrams());
        for batch in before {
            self.submit(batch)?;
            self.finish_sending()?;
        }
        self.submit(last)?;
        self.read_on()?;
        self.enter(wait)?;
        self.finish_sending()?;
        train.clear();
        for _ in 0..RECEIVE_BATCH {
            let taken = self.arrivals.take_next(|datagram| datagram.map_or(Ok(()), |it| take(train, it)));
            match taken {
                Some(outcome) => outcome?,
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    /// See `Socket::send`.
    pub fn send(&mut self, train: &mut Train) -> Result<()> {
        for batch in train.datagrams().chunks(SEND_BATCH) {
            self.submit(batch)?;
            self.finish_sending()?;
        }
        train.clear();
        Ok(())
    }

    /// Queue up to `SEND_BATCH` datagrams. Their payloads have to stay until `finish_sending`.
    fn submit(&mut self, datagrams: &[Outgoing]) -> Result<()> {
        let headers = self.departures.describe(datagrams);
        let last = headers.len().wrapping_sub(1);
        for (index, header) in headers.iter().enumerate() {
            let send = opcode::SendMsg::new(self.socket, &raw const header.msg_hdr).build();
            let link = if index == last { squeue::Flags::empty() } else { squeue::Flags::IO_HARDLINK };
            let send = send.user_data(SENT).flags(link);
            // SAFETY: the headers, and what they point to, stay until the kernel has answered the last.
            unsafe { queue(&mut self.uring, &send)? };
        }
        self.sending += headers.len();
        Ok(())
    }

    /// See that the read is under way.
    fn read_on(&mut self) -> Result<()> {
        if !std::mem::replace(&mut self.reading, true) {
            let read = opcode::RecvMsgMulti::new(self.socket, self.arrivals.header(), GROUP);
            let read = read.build().user_data(READ);
            // SAFETY: the header stays as long as the io_uring.
            unsafe { queue(&mut self.uring, &read)? };
        }
        Ok(())
    }

    /// Start what is queued, and sleep for at most `wait` until a datagram is there.
    fn enter(&mut self, wait: Duration) -> Result<()> {
        let sleeps = self.arrivals.is_empty() && !wait.is_zero();
        let answers = self.sending + usize::from(sleeps);
        let entered = if sleeps {
            if self.uring.submission().is_empty() {
                // A call that starts something does not fail when the time is over, and in virtual time a call that
                // fails takes a microsecond.
                let nothing = opcode::Nop::new().build().flags(squeue::Flags::SKIP_SUCCESS);
                // SAFETY: it refers to nothing.
                unsafe { queue(&mut self.uring, &nothing)? };
            }
            let timeout = Timespec::from(wait);
            self.uring.submitter().submit_with_args(answers, &SubmitArgs::new().timespec(&timeout))
        } else {
            let queued = self.uring.submission().len() as u32;
            let flags = EnterFlags::GETEVENTS.bits();
            // SAFETY: there is no argument that could be wrong.
            unsafe { self.uring.submitter().enter::<libc::sigset_t>(queued, answers as u32, flags, None) }
        };
        self.answered(entered)
    }

    /// Wait until the whole train has left.
    fn finish_sending(&mut self) -> Result<()> {
        while self.sending > 0 {
            let entered = self.uring.submit_and_wait(1);
            self.answered(entered)?;
        }
        Ok(())
    }

    /// Take the kernel's answers.
    fn answered(&mut self, entered: io::Result<usize>) -> Result<()> {
        if let Err(error) = entered {
            // The time is over, a signal has come, or memory is short for a moment.
            let passes = [libc::ETIME, libc::EINTR, libc::EAGAIN, libc::EBUSY];
            if !error.raw_os_error().is_some_and(|code| passes.contains(&code)) {
                return Err(Error::failed("io_uring_enter", error));
            }
        }
        for answer in self.uring.completion() {
            match answer.user_data() {
                READ => {
                    self.reading = cqueue::more(answer.flags());
                    match (cqueue::buffer_select(answer.flags()), answer.result()) {
                        (Some(buffer), length @ 0..) => self.arrivals.push(buffer, length as usize),
                        (_, error) => read_ended(-error)?,
                    }
                }
                // Sent, or lost.
                _ => self.sending -= 1,
            }
        }
        Ok(())
    }
}

/// Have a request go with the next call.
///
/// # Safety
/// What it refers to has to stay until the kernel has answered it.
unsafe fn queue(uring: &mut IoUring, request: &squeue::Entry) -> Result<()> {
    // SAFETY: by the caller's promise.
    unsafe { uring.submission().push(request) }.map_err(|error| Error::failed("io_uring", error))
}

/// The last batch of `datagrams`, which may be empty, and those before it.
fn batches(datagrams: &[Outgoing]) -> (&[Outgoing], impl Iterator<Item = &[Outgoing]>) {
    let full = datagrams.len().saturating_sub(1) / SEND_BATCH * SEND_BATCH;
    let (before, last) = datagrams.split_at(full);
    (last, before.chunks(SEND_BATCH))
}

/// Is there a fault, if the read has ended with this error?
fn read_ended(code: i32) -> Result<()> {
    match code {
        // All buffers are full.
        libc::ENOBUFS => Ok(()),
        libc::EAGAIN | libc::EINTR => Ok(()),
        // An ICMP answer to something sent earlier; QUIC's own timers deal with it.
        libc::ECONNREFUSED | libc::ECONNRESET => Ok(()),
        _ => Err(Error::failed("UDP receive", io::Error::from_raw_os_error(code))),
    }
}
