//! `queryscope top` on a pseudo-terminal, against a real service.

#![cfg(target_os = "linux")]

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZero;
use std::os::unix::ffi::OsStrExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use rustix::fs::OFlags;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use uuid::Uuid;

use crate::check::issues::acknowledge;
use crate::common::events::Stream;
use crate::common::{Service, command, queryscope, wait_for};
use crate::evaluated::{batches, undisturbed};

/// Lines and columns of the terminal.
const SIZE: (NonZero<u16>, NonZero<u16>) = (NonZero::new(24).unwrap(), NonZero::new(80).unwrap());

/// A program on a terminal; it is killed when dropped.
struct OnTerminal {
    child: Child,
    keys: File,
    screen: Arc<Mutex<vt100::Parser>>,
}

impl OnTerminal {
    fn start(program: &Command) -> Self {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&terminal).expect("granted");
        unlockpt(&terminal).expect("unlocked");
        let size = Winsize { ws_row: SIZE.0.get(), ws_col: SIZE.1.get(), ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&terminal, size).expect("sized");
        let name = ptsname(&terminal, Vec::new()).expect("a name");
        let path = OsStr::from_bytes(name.to_bytes());
        let flags = OFlags::RDWR | OFlags::NOCTTY;
        let other = rustix::fs::open(path, flags, rustix::fs::Mode::empty()).expect("the other end");
        let other = File::from(other);
        let end = || Stdio::from(other.try_clone().expect("another handle"));
        // A session of its own: the terminal that the tests run on is another one.
        let mut alone = Command::new("setsid");
        alone.arg("--ctty").arg("--wait").arg(program.get_program()).args(program.get_args());
        for (name, value) in program.get_envs() {
            match value {
                Some(value) => alone.env(name, value),
                None => alone.env_remove(name),
            };
        }
        alone.env("TERM", "xterm-256color");
        let child = alone.stdin(end()).stdout(end()).stderr(end()).spawn().expect("it starts");
        let terminal = File::from(terminal);
        let mut output = terminal.try_clone().expect("another handle");
        let screen = Arc::new(Mutex::new(vt100::Parser::new(SIZE.0, SIZE.1, 0)));
        let shown = Arc::clone(&screen);
        std::thread::spawn(move || {
            let mut piece = [0; 4096];
            // It ends with an error once nobody has the other end open.
            while let Ok(read) = output.read(&mut piece) {
                if read == 0 {
                    break;
                }
                shown.lock().expect("no panic").process(&piece[..read]);
            }
        });
        Self { child, keys: terminal, screen }
    }

    /// What is on the screen.
    fn shown(&self) -> String {
        self.screen.lock().expect("no panic").screen().contents()
    }

    /// Waits until a text is on the screen.
    fn wait_for(&self, text: &str) {
        wait_for(text, || self.shown().contains(text).then_some(()));
    }

    fn press(&self, keys: &str) {
        (&self.keys).write_all(keys.as_bytes()).expect("it reads");
    }
}

impl Drop for OnTerminal {
    fn drop(&mut self) {
        // Fails where it has ended, which is as well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn running_queries_are_watched_through_an_outage() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let mut stream = Stream::new();
    let query = Uuid::from_u128(0xabc);
    let (started, sampled) = (stream.started(query, "live/one"), stream.progress(query));
    service.post(&stream.batch(&[started, sampled])).counts();
    let mut top = command();
    top.arg("top").arg("--data").arg(folder.path());
    let mut top = OnTerminal::start(&top);
    top.wait_for("live/one");
    assert!(top.shown().starts_with("1 running, "), "{}", top.shown());
    top.press("\r");
    top.wait_for("Esc back");
    assert!(top.shown().starts_with("live/one "), "{}", top.shown());
    top.press("q");
    top.wait_for("1 running, ");

    service.kill();
    top.wait_for("Lost contact ");
    assert!(top.shown().contains("live/one"), "what was known stays: {}", top.shown());
    // It comes back at another address.
    let service = Service::start(folder.path());
    top.wait_for(&service.url);
    let later = stream.started(Uuid::from_u128(0xdef), "live/two");
    assert_eq!(service.post(&stream.batch(&[later])).counts(), (1, 0));
    top.wait_for("live/two");
    top.press("q");
    let status = wait_for("its end", || top.child.try_wait().expect("our child"));
    assert!(status.success(), "{}", top.shown());
    wait_for("the screen as it was", || {
        (!top.screen.lock().expect("no panic").screen().alternate_screen()).then_some(())
    });
}

#[test]
fn open_issues_are_the_second_screen() {
    let folder = tempfile::tempdir().expect("a folder");
    undisturbed(folder.path(), &batches(60));
    let service = Service::start(folder.path());
    let mut top = command();
    top.arg("top").arg("--data").arg(folder.path());
    let mut top = OnTerminal::start(&top);
    top.wait_for("i 2 issues");
    top.press("i");
    top.wait_for("2 issues, ");
    for text in ["orders/daily", "orders/weekly", "slower since", "i running"] {
        assert!(top.shown().contains(text), "{}", top.shown());
    }
    // What a person does elsewhere is seen here.
    acknowledge(&service);
    top.wait_for("acknowledged");
    top.press("iq");
    let status = wait_for("its end", || top.child.try_wait().expect("our child"));
    assert!(status.success(), "{}", top.shown());
}

#[test]
fn without_a_terminal_it_says_what_lists_the_same() {
    let error = queryscope(["top", "--url", "http://127.0.0.1:1"]).failure(1);
    assert!(error.contains("queryscope runs --status running"), "{error}");
}
