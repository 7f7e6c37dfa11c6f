//! What the engine says about a node, in the words that findings and readers know.

mod joins;
mod rows;
mod sources;

use std::sync::Arc;

use datafusion::physical_plan::ExecutionPlan;
use queryscope_client::protocol::{Object, Role};
use serde_json::{Map, Value};

/// The properties of a node while they are rendered.
#[derive(Debug, Default)]
pub(crate) struct Properties(Map<String, Value>);

impl Properties {
    /// Adds a property, unless there is nothing to say.
    pub(crate) fn add(&mut self, name: &str, value: impl Into<Value>) -> &mut Self {
        match value.into() {
            Value::Null => {}
            value => {
                self.0.insert(name.to_owned(), value);
            }
        }
        self
    }

    /// Adds a list, unless it is empty.
    pub(crate) fn list(&mut self, name: &str, texts: impl IntoIterator<Item = String>) -> &mut Self {
        let texts: Vec<Value> = texts.into_iter().map(Value::from).collect();
        if !texts.is_empty() {
            self.0.insert(name.to_owned(), texts.into());
        }
        self
    }

    pub(crate) fn into_object(self) -> Option<Object<'static>> {
        if self.0.is_empty() { None } else { Object::of(&self.0).ok() }
    }
}

type Render = Box<dyn Fn(&mut Properties) + Send + Sync>;

/// What to say about a node, rendered when it is asked for: the expressions it needs and nothing else is held.
#[derive(Default)]
pub(crate) struct Details {
    /// The role, where it takes more than the kind to tell.
    pub(crate) role: Option<Role>,
    /// Whether nodes below may carry on with the same logical node.
    pub(crate) goes_on: bool,
    /// Files of a scan.
    pub(crate) files: Option<Files>,
    render: Option<Render>,
}

/// The files a scan may read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Files {
    pub(crate) count: u64,
    pub(crate) bytes: u64,
}

impl Details {
    fn new(render: impl Fn(&mut Properties) + Send + Sync + 'static) -> Self {
        Self { render: Some(Box::new(render)), ..Self::default() }
    }

    fn role(mut self, role: Role) -> Self {
        self.role = Some(role);
        self
    }

    fn going_on(mut self, goes_on: bool) -> Self {
        self.goes_on = goes_on;
        self
    }

    /// Reads a node. Nothing is known of nodes that are not DataFusion's own.
    pub(crate) fn of(node: &Arc<dyn ExecutionPlan>) -> Self {
        let node = &**node;
        sources::describe(node)
            .or_else(|| rows::describe(node))
            .or_else(|| joins::describe(node))
            .unwrap_or_default()
    }

    pub(crate) fn render(&self, properties: &mut Properties) {
        if let Some(render) = &self.render {
            render(properties);
        }
    }
}

impl std::fmt::Debug for Details {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Details")
            .field("role", &self.role)
            .field("files", &self.files)
            .finish_non_exhaustive()
    }
}
