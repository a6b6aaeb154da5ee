//! The rules for label keys and values, in the words of the Kubernetes API.

const MAX_NAME_BYTES: usize = 63;
const MAX_SUBDOMAIN_BYTES: usize = 253;

const NAME_CHARACTERS: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character \
     (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const SUBDOMAIN_CHARACTERS: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end \
     with an alphanumeric character (e.g. 'example.com', regex used for validation is \
     '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const VALUE_CHARACTERS: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with \
     an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is \
     '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/// All mistakes in a label key, which is a qualified name: `[subdomain/]name`.
pub(super) fn label_key(key: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    let parts: Vec<&str> = key.split('/').collect();
    let name = match parts[..] {
        [name] => name,
        [prefix, name] => {
            if prefix.is_empty() {
                complaints.push("prefix part must be non-empty".to_owned());
            } else {
                complaints.extend(subdomain(prefix).into_iter().map(|complaint| format!("prefix part {complaint}")));
            }
            name
        }
        _ => {
            return vec![format!(
                "a valid label key {NAME_CHARACTERS} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )];
        }
    };
    if name.is_empty() {
        complaints.push("name part must be non-empty".to_owned());
    } else if name.len() > MAX_NAME_BYTES {
        complaints.push(format!("name part must be no more than {MAX_NAME_BYTES} bytes"));
    }
    if !is_name(name) {
        complaints.push(format!("name part {NAME_CHARACTERS}"));
    }
    complaints
}

/// All mistakes in a label value.
pub(super) fn label_value(value: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    if value.len() > MAX_NAME_BYTES {
        complaints.push(format!("must be no more than {MAX_NAME_BYTES} bytes"));
    }
    if !value.is_empty() && !is_name(value) {
        complaints.push(VALUE_CHARACTERS.to_owned());
    }
    complaints
}

fn subdomain(text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    if text.len() > MAX_SUBDOMAIN_BYTES {
        complaints.push(format!("must be no more than {MAX_SUBDOMAIN_BYTES} bytes"));
    }
    let label_character = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    if !text.split('.').all(|label| framed(label, label_character, |byte| byte == b'-')) {
        complaints.push(SUBDOMAIN_CHARACTERS.to_owned());
    }
    complaints
}

fn is_name(text: &str) -> bool {
    framed(text, |byte| byte.is_ascii_alphanumeric(), |byte| matches!(byte, b'-' | b'_' | b'.'))
}

/// Whether a text starts and ends with a `core` byte and has only `core` and `inner` bytes.
fn framed(text: &str, core: impl Fn(u8) -> bool, inner: impl Fn(u8) -> bool) -> bool {
    let bytes = text.as_bytes();
    let (Some(&first), Some(&last)) = (bytes.first(), bytes.last()) else {
        return false;
    };
    core(first) && core(last) && bytes.iter().all(|&byte| core(byte) || inner(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_keys() {
        for key in ["a", "A-b_c.d", "example.com/name", "1/2", &"x".repeat(63), &format!("{}/a", ["a"; 127].join("."))] {
            assert_eq!(label_key(key), Vec::<String>::new(), "{key}");
        }
        let characters = format!("name part {NAME_CHARACTERS}");
        let prefix = format!("prefix part {SUBDOMAIN_CHARACTERS}");
        let empty_name = vec!["name part must be non-empty".to_owned(), characters.clone()];
        assert_eq!(label_key("-a"), [characters.as_str()]);
        assert_eq!(label_key("a."), [characters.as_str()]);
        assert_eq!(label_key("a b"), [characters.as_str()]);
        assert_eq!(label_key("ä"), [characters.as_str()]);
        assert_eq!(label_key(""), empty_name);
        assert_eq!(label_key("a/"), empty_name);
        assert_eq!(label_key("/a"), ["prefix part must be non-empty"]);
        assert_eq!(label_key("A/a"), [prefix.as_str()]);
        assert_eq!(label_key("a..b/a"), [prefix.as_str()]);
        assert_eq!(label_key("a-/a"), [prefix.as_str()]);
        assert_eq!(label_key(&"x".repeat(64)), ["name part must be no more than 63 bytes"]);
        assert_eq!(label_key(&format!("{}/a", "x".repeat(254))), ["prefix part must be no more than 253 bytes"]);
        assert!(label_key("a/b/c")[0].ends_with("with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"));
    }

    #[test]
    fn label_values() {
        for value in ["", "a", "A.b-c_d", &"x".repeat(63)] {
            assert_eq!(label_value(value), Vec::<String>::new(), "{value}");
        }
        assert_eq!(label_value("-1"), [VALUE_CHARACTERS]);
        assert_eq!(label_value("a/b"), [VALUE_CHARACTERS]);
        assert_eq!(label_value(&"x".repeat(64)), ["must be no more than 63 bytes"]);
        assert_eq!(label_value(&"/".repeat(64)).len(), 2);
    }
}
