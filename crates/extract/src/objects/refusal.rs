//! What a store has against being read, in its own words.

use super::access::Access;
use crate::error::{Error, Refused};

/// How `object_store` begins what a server answered.
const ANSWERED: &str = "Server returned non-2xx status code: ";

/// What keeps an object from being read; nothing that could be a credential is told.
pub(super) fn of(path: &str, access: &Access, error: &object_store::Error) -> Error {
    use object_store::Error as Refusal;
    let problem = access.masked(&words(error));
    let kind = match error {
        Refusal::Precondition { .. } => return Error::Changed { path: path.to_owned() },
        Refusal::NotFound { .. } => Refused::Missing,
        // A bucket that is not there is no error of its own when it is listed.
        Refusal::Generic { .. } if problem.starts_with("404 ") => Refused::Missing,
        Refusal::Generic { .. } | Refusal::PermissionDenied { .. } | Refusal::Unauthenticated { .. } => {
            Refused::Connection
        }
        _ => Refused::Url,
    };
    Error::Store { path: path.to_owned(), scheme: access.scheme(), kind, problem }
}

/// What the last in the chain of causes says: those before it repeat addresses, and how often it was tried.
pub(super) fn words(error: &object_store::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    let text = cause.to_string();
    text.strip_prefix(ANSWERED).map_or(text.clone(), answered)
}

/// The status of an answer, and what its XML says about it; pages for people are left out.
fn answered(answer: &str) -> String {
    let (status, body) = answer.split_once(": ").unwrap_or((answer, ""));
    let element = |name: &str| {
        let (_, rest) = body.split_once(&format!("<{name}>"))?;
        // Azure goes on with a number and a time that are of no use.
        rest.split(['<', '\n']).next().map(str::trim)
    };
    match (element("Code"), element("Message")) {
        (Some(code), Some(message)) => format!("{status}: {code}: {message}"),
        _ => status.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::answered;

    #[test]
    fn answers_are_short() {
        let table = [
            ("404 Not Found: ", "404 Not Found"),
            ("500 Internal Server Error: <html><title>x</title></html>", "500 Internal Server Error"),
            (
                "403 Forbidden: <?xml version=\"1.0\"?><Error><Code>AccessDenied</Code><Message>Access Denied</Message><HostId>h</HostId></Error>",
                "403 Forbidden: AccessDenied: Access Denied",
            ),
            (
                "404 Not Found: <Error><Code>BlobNotFound</Code><Message>The blob does not exist.\nRequestId:1\nTime:2</Message></Error>",
                "404 Not Found: BlobNotFound: The blob does not exist.",
            ),
        ];
        for (answer, expected) in table {
            assert_eq!(answered(answer), expected);
        }
    }
}
