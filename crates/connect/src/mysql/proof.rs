//! How it is shown that the password is known.

use ring::digest::{Algorithm, Context, SHA1_FOR_LEGACY_USE_ONLY, SHA256};

use super::wire::Wire;
use super::{Error, Packet};

/// A way to ask for the password, and what makes each answer another.
pub(super) struct Challenge {
    pub(super) plugin: String,
    salt: Vec<u8>,
}

impl Challenge {
    pub(super) fn new(plugin: String, mut salt: Vec<u8>) -> Self {
        // A zero ends it, which is not part of it.
        if salt.last() == Some(&0) {
            salt.pop();
        }
        Self { plugin, salt }
    }
}

/// The way to ask that every server knows.
pub(super) const OLDEST: &str = "mysql_native_password";
const CACHING: &str = "caching_sha2_password";

/// What is to be sent for a challenge; none where its way to ask is not known.
pub(super) fn of(challenge: &Challenge, password: &str) -> Option<Vec<u8>> {
    let password = password.as_bytes();
    let salt = challenge.salt.as_slice();
    Some(match challenge.plugin.as_str() {
        // The system says who is at the other end of a socket.
        "unix_socket" | "auth_socket" => Vec::new(),
        OLDEST | CACHING if password.is_empty() => Vec::new(),
        OLDEST => {
            let hash = |parts: &[&[u8]]| digest(&SHA1_FOR_LEGACY_USE_ONLY, parts);
            let once = hash(&[password]);
            mixed(&once, &hash(&[salt, &hash(&[&once])]))
        }
        CACHING => {
            let hash = |parts: &[&[u8]]| digest(&SHA256, parts);
            let once = hash(&[password]);
            mixed(&once, &hash(&[&hash(&[&once]), salt]))
        }
        _ => return None,
    })
}

fn digest(algorithm: &'static Algorithm, parts: &[&[u8]]) -> Vec<u8> {
    let mut context = Context::new(algorithm);
    parts.iter().for_each(|part| context.update(part));
    context.finish().as_ref().to_vec()
}

fn mixed(left: &[u8], right: &[u8]) -> Vec<u8> {
    left.iter().zip(right).map(|(left, right)| left ^ right).collect()
}

/// What a server may want next.
const ACCEPTED: u8 = 0x00;
const MORE: u8 = 0x01;
const OTHERWISE: u8 = 0xfe;
/// What `caching_sha2_password` may want: nothing, since it remembers, or the password itself.
const REMEMBERED: u8 = 3;
const PLAIN: u8 = 4;

/// Goes on until the server believes it.
pub(super) async fn give(
    wire: &mut Wire,
    password: &str,
    first: &Challenge,
    is_private: bool,
) -> Result<(), Error> {
    let mut plugin = first.plugin.clone();
    loop {
        let mut wanted = wire.receive().await?;
        match wanted.byte()? {
            ACCEPTED => return Ok(()),
            OTHERWISE => {
                let challenge = other(wanted);
                let unknown = || Error::Unfit(format!("the server asks for a login by {}", challenge.plugin));
                let proof = of(&challenge, password).ok_or_else(unknown)?;
                wire.send(&proof).await?;
                plugin = challenge.plugin;
            }
            MORE if plugin == CACHING => match wanted.byte()? {
                REMEMBERED => {}
                PLAIN if is_private => {
                    wire.send(&[password.as_bytes(), &[0]].concat()).await?;
                }
                PLAIN => {
                    let problem = "the server wants the password itself, which is only sent encrypted; set ssl-mode=REQUIRED";
                    return Err(Error::Unfit(problem.to_owned()));
                }
                _ => return Err(Error::Malformed),
            },
            _ => return Err(Error::Malformed),
        }
    }
}

fn other(mut wanted: Packet<'_>) -> Challenge {
    let plugin = String::from_utf8_lossy(wanted.until_zero()).into_owned();
    Challenge::new(plugin, wanted.rest().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_is_what_servers_expect() {
        let salt: Vec<u8> = (1..=20).chain([0]).collect();
        let hex = |plugin: &str, password: &str| {
            let proof = of(&Challenge::new(plugin.to_owned(), salt.clone()), password)?;
            Some(format!("{proof:02x?}").replace(['[', ',', ' ', ']'], ""))
        };
        let table = [
            ("mysql_native_password", "hunter2", Some(NATIVE)),
            ("caching_sha2_password", "hunter2", Some(CACHED)),
            ("mysql_native_password", "", Some("")),
            ("unix_socket", "hunter2", Some("")),
            ("client_ed25519", "hunter2", None),
            // Nobody gets the password as it is by asking for it.
            ("mysql_clear_password", "hunter2", None),
        ];
        for (plugin, password, expected) in table {
            assert_eq!(hex(plugin, password).as_deref(), expected, "{plugin}");
        }
    }

    /// As Python's `hashlib` makes them.
    const NATIVE: &str = "be2cbec13fd268cf921774da8dde99447d699455";
    const CACHED: &str = "04917479a40a673ae2388df86966d1b73768b4452df9a624881d93be865dc44c";
}
