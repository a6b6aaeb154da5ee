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

/// The headers that a request has beside the user's.
pub fn headers(token: Option<&str>, has_body: bool) -> Vec<Header> {
    const JSON: &str = "application/json";
    let header = |name, value: &str, replaces| Header { name, value: value.to_string(), replaces };
    let mut headers = vec![header("accept", JSON, false)];
    if has_body {
        headers.push(header("content-type", JSON, true));
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
        assert_eq!(shown(headers(None, false)), ["?accept application/json"]);
        assert_eq!(
            shown(headers(Some("t"), true)),
            ["?accept application/json", "content-type application/json", "authorization Bearer t"]
        );
    }
}
