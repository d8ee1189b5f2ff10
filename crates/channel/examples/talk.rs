//! Two processes that talk. In one terminal `talk listen`, in another `talk`.

use furlong_channel::{Channel, Error, Listener, Options};

fn main() -> Result<(), Error> {
    let options = Options::new();
    if std::env::args().nth(1).as_deref() == Some("listen") {
        let mut channel = Listener::bind("/tmp/talk", &options)?.accept()?;
        println!("process {} connected", channel.peer().process);
        loop {
            match channel.recv_vec() {
                Ok(message) => channel.send(&message)?,
                Err(Error::Closed) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }
    let mut channel = Channel::connect("/tmp/talk", &options)?;
    for number in 1..=3 {
        channel.send(format!("message {number}").as_bytes())?;
        println!("{} came back", String::from_utf8_lossy(&channel.recv_vec()?));
    }
    Ok(())
}
