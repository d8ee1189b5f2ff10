# What the roles say to each other: one call for each message, which the other's answers.
@0xd2a1c6f0b3e94857;

interface Messages {
  exchange @0 (message :Data) -> (message :Data);
}
