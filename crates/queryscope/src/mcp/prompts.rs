//! The prompts: questions that people ask often, as a client shows them.

use rmcp::model::{ErrorData, GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};

use crate::read::text::line;

const MORNING: &str = "morning_report";
const EXPLAIN: &str = "explain_slow_query";
/// Characters of an argument.
const ARGUMENT_CHARS_MAX: usize = 1000;

/// All of them.
pub(super) fn all() -> Vec<Prompt> {
    let service = PromptArgument::new("service")
        .with_description("Only queries of this service; all without it")
        .with_required(false);
    let label = PromptArgument::new("label").with_description("Label of the query").with_required(true);
    vec![
        Prompt::new(
            MORNING,
            Some("What got worse since yesterday, and what to look at first"),
            Some(vec![service]),
        )
        .with_title("Morning report"),
        Prompt::new(
            EXPLAIN,
            Some("Why a query is slow, and where in the program to change it"),
            Some(vec![label]),
        )
        .with_title("Explain a slow query"),
    ]
}

/// One of them with its arguments.
///
/// # Errors
/// When there is none of this name, or an argument is missing.
pub(super) fn get(name: &str, given: &JsonObject) -> Result<GetPromptResult, ErrorData> {
    let argument = |name: &str| {
        let text = given.get(name).and_then(|value| value.as_str()).map(str::trim);
        text.filter(|text| !text.is_empty())
            .map(|text| format!("{:?}", line(text).chars().take(ARGUMENT_CHARS_MAX).collect::<String>()))
    };
    let (description, text) = match name {
        MORNING => {
            let of =
                argument("service").map(|service| format!(" with service {service}")).unwrap_or_default();
            let and = if of.is_empty() { " with" } else { " and" };
            (
                "What got worse since yesterday, and what to look at first",
                format!(
                    "Write a morning report of our queries.\n\n\
                 1. Call what_got_worse{of}{and} hours 24, then issues{of}.\n\
                 2. For the change that costs most, call why_slower.\n\
                 3. Report in at most 15 lines, the most costly first: the query, since when, how much slower with \
                 the figures before and after, the cause with its share, the node of the plan, the line of the \
                 program, and the link. Say what is measured and what is a guess of yours.\n\
                 4. If nothing got worse, say so in one sentence."
                ),
            )
        }
        EXPLAIN => {
            let Some(label) = argument("label") else {
                return Err(ErrorData::invalid_params("label is missing: the label of a query", None));
            };
            (
                "Why a query is slow, and where in the program to change it",
                format!(
                    "Explain why the query with label {label} is slow.\n\n\
                 1. Call why_slower with this label. If there is no open change, call history.\n\
                 2. Call plan_diff with the typical run that it names, and findings with the same run.\n\
                 3. Explain in at most 15 lines: what changed and since when, with the figures; the cause with its \
                 share and evidence; the node of the plan; the line of the program to look at; and what to change \
                 there. Give the link. Say what is measured and what is a guess of yours."
                ),
            )
        }
        _ => {
            let shown: String = line(name).chars().take(80).collect();
            let reason = format!("there is no prompt {shown:?}: there are {MORNING} and {EXPLAIN}");
            return Err(ErrorData::invalid_params(reason, None));
        }
    };
    let message = PromptMessage::new_text(Role::User, text);
    Ok(GetPromptResult::new(vec![message]).with_description(description))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(name: &str, given: &serde_json::Value) -> Result<String, ErrorData> {
        let given = given.as_object().cloned().expect("an object");
        get(name, &given).map(|got| serde_json::to_string(&got.messages).expect("JSON"))
    }

    #[test]
    fn prompts_take_their_arguments_as_quoted_text() {
        let told = text(EXPLAIN, &json!({"label": "orders\u{1b}[31m\n\"daily\""})).expect("a prompt");
        assert!(
            told.contains("why_slower") && !told.contains('\u{1b}') && !told.contains("\\u001b"),
            "{told}"
        );
        assert!(told.contains("orders␛[31m␊"), "{told}");
        assert!(text(EXPLAIN, &json!({"label": " "})).is_err());
        let morning = |given| text(MORNING, &given).expect("a prompt");
        assert!(morning(json!({})).contains("Call what_got_worse with hours 24, then issues."));
        let of_etl = morning(json!({"service": "etl"})).replace('\\', "");
        let calls = r#"Call what_got_worse with service "etl" and hours 24, then issues with service "etl"."#;
        assert!(of_etl.contains(calls), "{of_etl}");
        assert!(text("other", &json!({})).expect_err("none").message.contains(MORNING));
    }
}
