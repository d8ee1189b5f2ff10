//! A server with many channels in tokio: one task for each client, all in one thread. No client delays another one. The
//! program `client` and the example `talk` of furlong-channel are clients.

use furlong_channel::tokio::{Channel, Listener};
use furlong_channel::{Error, Options};

fn main() -> Result<(), Error> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "/tmp/talk".to_owned());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    runtime.block_on(async {
        // There are many channels, and each is rarely full.
        let listener = Listener::bind(&name, &Options::new().capacity(64 << 10))?;
        loop {
            match listener.accept().await {
                Ok(channel) => drop(tokio::spawn(serve(channel))),
                Err(error) => eprintln!("a client could not connect: {error}"),
            }
        }
    })
}

/// Answers every message until the client closes its end or dies.
async fn serve(mut channel: Channel) {
    let mut buffer = [0; 4096];
    let error = loop {
        let len = match channel.recv(&mut buffer).await {
            Ok(len) => len,
            Err(error) => break error,
        };
        if let Err(error) = channel.send(&buffer[..len]).await {
            break error;
        }
    };
    if !matches!(error, Error::Closed | Error::PeerDied) {
        eprintln!("a client has disconnected: {error}");
    }
}
