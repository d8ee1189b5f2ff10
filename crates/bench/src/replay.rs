//! The trace that a role replays, read from its file.

use furlong_loops::replay::ReplayedMessages;
use furlong_model::RequestedConditions;
use furlong_trace::Recording;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Returns the messages of the trace; `None` if the conditions have none.
pub(crate) fn load(conditions: &RequestedConditions) -> io::Result<Option<Arc<ReplayedMessages>>> {
    let Some(replay) = conditions.replay() else { return Ok(None) };
    let failed = |what: String| io::Error::other(format!("{}: {what}", replay.file));
    let link = (!replay.link.is_empty()).then_some(&*replay.link);
    let read = Recording::read(Path::new(&replay.file), link).map_err(|error| failed(error.to_string()))?;
    if read.digest != replay.digest {
        return Err(failed("the trace has changed since the run began".to_owned()));
    }
    let messages = ReplayedMessages::new(&read.times_ns, &read.sizes_bytes, replay.speed_thousandths);
    Ok(Some(Arc::new(messages)))
}
