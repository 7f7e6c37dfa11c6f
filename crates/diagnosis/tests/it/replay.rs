//! The last steps of a detector, taken again from what is kept of it.

use queryscope_diagnosis::{Detector, RunFeatures, Saved, Status, Workspace};

use crate::told::Told;

/// What a store keeps of a query.
struct Kept {
    saved: String,
    runs: Vec<RunFeatures>,
}

impl Kept {
    fn saved(&self) -> Saved {
        serde_json::from_str(&self.saved).expect("JSON")
    }

    /// Stores what a detector says after these runs.
    fn store(&mut self, detector: &Detector, added: &[RunFeatures]) {
        self.runs.extend_from_slice(added);
        self.runs.sort_by_key(|run| (run.started_unix_ns, run.query_id));
        self.runs.drain(..self.runs.len().saturating_sub(detector.keeps()));
        self.saved = serde_json::to_string(&detector.save()).expect("JSON");
    }

    fn replayed(&self) -> Saved {
        let replayed = self.saved().replay(self.runs.clone(), &mut Workspace::default());
        replayed.expect("all runs").expect("its own").saved
    }
}

/// 900 runs with changes of each kind, one after the other, every seventh two to forty places late.
fn history() -> Vec<RunFeatures> {
    let mut told = Told::new();
    let mut runs: Vec<RunFeatures> = (0..900)
        .map(|n| {
            let run = told.made([100.0, 100.0, 180.0, 100.0, 240.0, 500.0, 500.0, 100.0, 60.0][n / 100], 1e6);
            match n {
                250..256 => RunFeatures { status: Status::Failed, ..run },
                _ if n % 41 == 0 => RunFeatures { status: Status::Cancelled, ..run },
                _ => run,
            }
        })
        .collect();
    for n in (0..850).step_by(7) {
        runs[n..n + 2 + n % 39].rotate_left(1);
    }
    runs
}

#[test]
fn the_last_runs_taken_again_give_the_same_state() {
    let mut kept =
        Kept { saved: serde_json::to_string(&Detector::default().save()).expect("JSON"), runs: Vec::new() };
    let (mut detector, mut workspace) = (Detector::default(), Workspace::default());
    let (mut changes, mut most) = (0, 0);
    for (n, piece) in history().chunks(11).enumerate() {
        // Every third time it begins anew by what is kept, as after a restart.
        if n % 3 == 0 {
            detector = Detector::restore(kept.saved(), kept.runs.clone()).expect("restored");
        }
        let before = kept.runs.clone();
        for run in piece {
            changes += detector.observe_with(run.clone(), &mut workspace, &mut || before.clone()).len();
        }
        detector.let_go();
        kept.store(&detector, piece);
        most = most.max(kept.runs.len());
        assert!(kept.replayed() == kept.saved(), "after {} runs", 11 * (n + 1));
    }
    assert!(changes > 20 && (500..600).contains(&most), "{changes} changes, {most} runs");
}

#[test]
fn other_runs_another_state_and_another_version_are_told_apart() {
    let (mut detector, mut workspace) = (Detector::default(), Workspace::default());
    let runs = history();
    for run in &runs[..440] {
        detector.observe(run.clone(), &mut workspace);
    }
    let mut kept = Kept { saved: String::new(), runs: Vec::new() };
    kept.store(&detector, &runs[..440]);
    assert!(kept.saved().lasting().count() > 0);
    for at in [437, 439] {
        let mut other = Kept { saved: kept.saved.clone(), runs: kept.runs.clone() };
        other.runs[at].wall_ns *= 2;
        assert!(other.replayed() != other.saved(), "run {at}");
    }
    let other = kept.saved.replacen("\"version\":\"", "\"version\":\"other ", 1);
    let saved: Saved = serde_json::from_str(&other).expect("JSON");
    assert!(saved.replay(kept.runs.clone(), &mut workspace).expect("nothing is read").is_none());
    // What took over from another version knows from where on it can tell.
    let newest = kept.runs.last().expect("a run");
    assert!(!saved.is_of_own(newest.started_unix_ns, newest.query_id));
    let mut taken = Detector::restore(saved, kept.runs.clone()).expect("restored");
    let run = &runs[470];
    taken.observe(run.clone(), &mut workspace);
    let mut later = Kept { saved: String::new(), runs: kept.runs.clone() };
    later.store(&taken, std::slice::from_ref(run));
    assert!(later.replayed() == later.saved());
    assert!(later.saved().is_of_own(run.started_unix_ns, run.query_id));
    assert!(!later.saved().is_of_own(newest.started_unix_ns, newest.query_id));
}
