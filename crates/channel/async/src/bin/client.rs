//! A client of the server `tokio`: `client NAME ROUNDS` prints the time of each round trip in nanoseconds. `client NAME
//! leave` connects and exits without closing its end. `client NAME stay` sends until it is killed.

use furlong_channel::{Channel, Error, Options};
use std::time::{Duration, Instant};

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let (name, task) = (arguments.next().unwrap_or_default(), arguments.next().unwrap_or_default());
    let mut channel = Channel::connect_timeout(&name, &Options::new(), Duration::from_secs(60))?;
    if task == "leave" {
        std::process::exit(0);
    }
    let rounds = task.parse().unwrap_or(usize::MAX);
    let mut buffer = [0; 64];
    for round in 0..rounds {
        let begin = Instant::now();
        channel.send(&round.to_le_bytes())?;
        let len = channel.recv_timeout(&mut buffer, Duration::from_secs(60))?;
        let took = begin.elapsed();
        assert_eq!(buffer[..len], round.to_le_bytes());
        println!("{}", took.as_nanos());
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}
