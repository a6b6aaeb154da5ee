//! The headers of a request.

/// One header of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Its name.
    pub name: &'static str,
    /// Its value.
    pub value: String,
    /// Whether it takes the place of one that the user gives.
    pub replaces: bool,
}

/// The media type that every server answers with.
pub const JSON: &str = "application/json";

/// The headers that a request has beside the user's. `accept` is what it asks for; the user may ask for another kind of plain JSON.
/// `content_type` is that of its body, if it has one.
pub fn headers(accept: &str, token: Option<&str>, content_type: Option<&str>) -> Vec<Header> {
    let header = |name, value: &str, replaces| Header { name, value: value.to_string(), replaces };
    let mut headers = vec![header("accept", accept, accept != JSON)];
    if let Some(content_type) = content_type {
        headers.push(header("content-type", content_type, true));
    }
    if let Some(token) = token {
        headers.push(header("authorization", &format!("Bearer {token}"), true));
    }
    headers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_says_who_asks_and_what_it_sends() {
        let shown = |headers: Vec<Header>| {
            let line = |header: Header| format!("{}{} {}", if header.replaces { "" } else { "?" }, header.name, header.value);
            headers.into_iter().map(line).collect::<Vec<_>>()
        };
        assert_eq!(shown(headers(JSON, None, None)), ["?accept application/json"]);
        assert_eq!(
            shown(headers(JSON, Some("t"), Some("application/merge-patch+json"))),
            ["?accept application/json", "content-type application/merge-patch+json", "authorization Bearer t"]
        );
        // What cannot be read as anything else is no wish of the user's.
        assert_eq!(shown(headers("application/json;as=Table", None, None)), ["accept application/json;as=Table"]);
    }
}
