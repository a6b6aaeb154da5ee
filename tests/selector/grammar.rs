//! The grammar of selectors in the Kubernetes API: what is refused, in which words and at which place. What is printed reads back.

use proptest::prelude::*;
use watchcache::selector::{FieldSelector, LabelSelector};

/// Every message of the label grammar and where it points. The texts are what the Kubernetes library answers.
#[test]
fn sel_10_label_selector_messages() {
    const NAME: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
    const VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
    const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
    const INTEGER: &str = "for 'Gt', 'Lt' operators, the value must be an integer";
    const START: &str = "expected: !, identifier, or 'end of string'";
    const OPERATOR: &str = "expected: in, notin, =, ==, !=, gt, lt";
    const SEPARATOR: &str = "expected: ',' or 'end of string'";
    let long = "y".repeat(64);
    let bad = |message: String| format!("unable to parse requirement: {message}");
    let cases: Vec<(&str, usize, String)> = vec![
        ("=", 0, format!("found '=', {START}")),
        (" (a)", 1, format!("found '(', {START}")),
        (",a", 0, format!("found ',', {START}")),
        (">1", 0, format!("found '>', {START}")),
        ("!=a", 0, format!("found '!=', {START}")),
        ("!", 1, bad("found '', expected: identifier".into())),
        ("!!a", 1, bad("found '!', expected: identifier".into())),
        ("a,", 2, "found '', expected: identifier after ','".into()),
        ("a,,b", 2, "found ',', expected: identifier after ','".into()),
        ("a, =b", 3, "found '=', expected: identifier after ','".into()),
        ("a b", 2, bad(format!("found 'b', {OPERATOR}"))),
        ("a!", 1, bad(format!("found '!', {OPERATOR}"))),
        ("a(", 1, bad(format!("found '(', {OPERATOR}"))),
        ("a)", 1, bad(format!("found ')', {OPERATOR}"))),
        ("a=b c", 4, format!("found 'c', {SEPARATOR}")),
        ("a=b=c", 3, format!("found '=', {SEPARATOR}")),
        ("x==a==b", 4, format!("found '==', {SEPARATOR}")),
        ("!x=a", 2, format!("found '=', {SEPARATOR}")),
        ("a in (b)c", 8, format!("found 'c', {SEPARATOR}")),
        ("a in", 4, bad("found '' expected: '('".into())),
        ("a in b", 5, bad("found 'b' expected: '('".into())),
        ("a notin )", 8, bad("found ')' expected: '('".into())),
        ("a in (", 6, bad("found '', expected: ',', ')' or identifier".into())),
        ("a in (=)", 6, bad("found '=', expected: ',', ')' or identifier".into())),
        ("a in (b", 7, bad("found '', expected: ',' or ')'".into())),
        ("a in (b c)", 8, bad("found 'c', expected: ',' or ')'".into())),
        ("a in (b,=)", 8, bad("found '=', expected: ',', or identifier".into())),
        ("a in (,", 7, bad("found '', expected: ',', or identifier".into())),
        ("a=(", 2, bad("found '(', expected: identifier".into())),
        ("a==!b", 3, bad("found '!', expected: identifier".into())),
        ("a>", 2, bad(format!("values[0]: Invalid value: \"\": {INTEGER}"))),
        ("a>b", 2, bad(format!("values[0]: Invalid value: \"b\": {INTEGER}"))),
        ("a<1.5", 2, bad(format!("values[0]: Invalid value: \"1.5\": {INTEGER}"))),
        ("a>9223372036854775808", 2, bad(format!("values[0]: Invalid value: \"9223372036854775808\": {INTEGER}"))),
        ("a>-1", 2, bad(format!("values[0][a]: Invalid value: \"-1\": {VALUE}"))),
        ("a=-b", 2, bad(format!("values[0][a]: Invalid value: \"-b\": {VALUE}"))),
        ("a<-b", 2, bad(format!("[values[0]: Invalid value: \"-b\": {INTEGER}, values[0][a]: Invalid value: \"-b\": {VALUE}]"))),
        ("x=a||y=b", 2, bad(format!("values[0][x]: Invalid value: \"a||y\": {VALUE}"))),
        ("a=\"b\"", 2, bad(format!("values[0][a]: Invalid value: \"\\\"b\\\"\": {VALUE}"))),
        // Values are checked in sorted order, which is the order of the message; the place is that of its first part.
        ("a in (d-,-c,b)", 9, bad(format!("[values[0][a]: Invalid value: \"-c\": {VALUE}, values[2][a]: Invalid value: \"d-\": {VALUE}]"))),
        ("b,-a", 2, bad(format!("<nil>: Invalid value: \"-a\": name part {NAME}"))),
        ("a/=b", 0, bad(format!("<nil>: Invalid value: \"a/\": name part must be non-empty; name part {NAME}"))),
        ("A/b", 0, bad(format!("<nil>: Invalid value: \"A/b\": prefix part {SUBDOMAIN}"))),
        (
            "a/b/c=d",
            0,
            bad(format!(
                "<nil>: Invalid value: \"a/b/c\": a valid label key {NAME} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )),
        ),
        (&long, 0, bad(format!("<nil>: Invalid value: \"{long}\": name part must be no more than 63 bytes"))),
    ];
    for (text, offset, message) in cases {
        let error = LabelSelector::parse(text).expect_err(text);
        assert_eq!((error.message.as_str(), error.offset), (message.as_str(), offset), "{text:?}");
    }
}

#[test]
fn sel_11_field_selector_messages() {
    for (text, offset, message) in [
        ("x", 0, "invalid selector: 'x'; can't understand 'x'"),
        ("x=a,b", 4, "invalid selector: 'x=a,b'; can't understand 'b'"),
        ("x in (a)", 0, "invalid selector: 'x in (a)'; can't understand 'x in (a)'"),
        ("x in (a,b,c)", 8, "invalid selector: 'x in (a,b,c)'; can't understand 'b'"),
        ("a!b", 0, "invalid selector: 'a!b'; can't understand 'a!b'"),
        // The first in sorted order.
        ("y,x", 2, "invalid selector: 'y,x'; can't understand 'x'"),
        ("x=a=,b", 5, "invalid selector: 'x=a=,b'; can't understand 'b'"),
        ("x=a||y=b", 6, "invalid field selector: unescaped character in value: 61"),
        ("x==a==b", 4, "invalid field selector: unescaped character in value: 61"),
        ("x=a,y=b=c", 7, "invalid field selector: unescaped character in value: 61"),
        ("x===a", 3, "invalid field selector: unescaped character in value: 61"),
        (r"x=\a", 2, r"invalid field selector: invalid escape sequence: \a"),
        (r"x=a\", 3, r"invalid field selector: invalid escape sequence: \"),
        (r"ä=b,x=\ä", 7, r"invalid field selector: invalid escape sequence: \ä"),
    ] {
        let error = FieldSelector::parse(text).expect_err(text);
        assert_eq!((error.message.as_str(), error.offset), (message, offset), "{text:?}");
    }
}

/// Texts that come close to being selectors.
fn near(tokens: Vec<&'static str>) -> impl Strategy<Value = String> {
    let token = prop_oneof![9 => prop::sample::select(tokens).prop_map(str::to_owned), 1 => any::<char>().prop_map(String::from)];
    prop::collection::vec(token, 0..10).prop_map(|tokens| tokens.concat())
}

fn near_label_selector() -> impl Strategy<Value = String> {
    near(vec!["a", "b", " in ", " notin ", "=", "==", "!=", "!", ">", "<", "(", "(", ")", ")", ",", ",", " ", "\t", "1", "-", "\0", "x/y"])
}

fn near_field_selector() -> impl Strategy<Value = String> {
    near(vec!["a", "b.c", "=", "=", "==", "!=", "!", ",", ",", "\\", "\\,", "\\=", "\\\\", "[", "]", "['", "']", "\"", " "])
}

proptest! {
    #[test]
    fn label_selectors_print_and_read_back(text in near_label_selector()) {
        match LabelSelector::parse(&text) {
            Ok(selector) => {
                let canonical = selector.to_string();
                prop_assert_eq!(LabelSelector::parse(&canonical), Ok(selector), "{:?}", canonical);
            }
            Err(error) => prop_assert!(text.is_char_boundary(error.offset), "{:?}", error),
        }
    }

    #[test]
    fn field_selectors_print_and_read_back(text in near_field_selector()) {
        match FieldSelector::parse(&text) {
            Ok(selector) => {
                let canonical = selector.to_string();
                prop_assert_eq!(FieldSelector::parse(&canonical), Ok(selector), "{:?}", canonical);
            }
            Err(error) => prop_assert!(text.is_char_boundary(error.offset), "{:?}", error),
        }
    }
}
