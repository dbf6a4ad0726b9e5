//! Values of `--set KEY=VALUE`, for the settings parsers of the stacks.

use std::fmt::Display;
use std::str::FromStr;

use crate::error::{Error, Result};

/// The pairs of one command line, in its order.
pub type Pairs = Vec<(String, String)>;

/// Split `KEY=VALUE`.
pub fn pair(assignment: &str) -> Result<(String, String)> {
    let (key, value) = assignment
        .split_once('=')
        .ok_or_else(|| Error::Usage(format!("--set wants KEY=VALUE, not {assignment:?}")))?;
    Ok((key.to_owned(), value.to_owned()))
}

/// `value` as a number in `low..=high`.
pub fn number<T>(key: &str, value: &str, low: T, high: T) -> Result<T>
where
    T: FromStr + PartialOrd + Display,
{
    value
        .parse()
        .ok()
        .filter(|number| (&low..=&high).contains(&number))
        .ok_or_else(|| Error::Usage(format!("--set {key}={value}: wants a number from {low} to {high}")))
}

/// `value` as a boolean: `true` or `false`.
pub fn boolean(key: &str, value: &str) -> Result<bool> {
    match value {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(Error::Usage(format!("--set {key}={value}: wants true or false"))),
    }
}

/// The error for a key that a stack does not have; `keys` are those it has.
pub fn unknown(key: &str, keys: &[&str]) -> Error {
    let keys = if keys.is_empty() { "none".to_owned() } else { keys.join(", ") };
    Error::Usage(format!("--set: unknown key {key:?}; there are: {keys}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_taken_within_their_range_only() {
        assert_eq!(number("bytes", "1472", 1200, 1472).unwrap(), 1472);
        for bad in ["1473", "1199", "x", "", "-1"] {
            assert!(matches!(number("bytes", bad, 1200_u16, 1472), Err(Error::Usage(_))), "{bad}");
        }
        assert!(number("ratio", "NaN", 0.0, 1.0).is_err());
    }

    #[test]
    fn booleans_and_pairs() {
        assert_eq!((boolean("pacing", "true").unwrap(), boolean("pacing", "false").unwrap()), (true, false));
        for bad in ["on", "1", "True", ""] {
            assert!(boolean("pacing", bad).is_err(), "{bad}");
        }
        assert_eq!(pair("a=b=c").unwrap(), ("a".into(), "b=c".into()));
        assert!(pair("pacing").is_err());
    }

    #[test]
    fn an_unknown_key_names_the_known_ones() {
        let Error::Usage(text) = unknown("cwnd", &["hystart", "pacing"]) else { panic!() };
        assert!(text.contains("cwnd") && text.contains("hystart, pacing"), "{text}");
    }
}
