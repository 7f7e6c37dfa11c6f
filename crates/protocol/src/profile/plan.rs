//! Plans and their nodes.

use serde::de::Deserializer;
use serde::{Deserialize, Serialize, Serializer};

use super::counters::Counters;
use super::object::Object;
use crate::text::Text;

/// The plans of a query. Both are empty when it failed before it was planned.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Plan<'a> {
    /// What the engine ran; these nodes carry counters.
    #[serde(borrow)]
    pub physical: Vec<Node<'a>>,
    /// What the program asked for, as optimised.
    #[serde(borrow)]
    pub logical: Vec<Node<'a>>,
}

/// A node of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Node<'a> {
    /// Identity of the node within its plan.
    pub id: u64,
    /// The engine's name for what the node is.
    #[serde(borrow)]
    pub kind: Text<'a>,
    /// What the node does, in words all engines share.
    #[serde(default)]
    pub role: Role,
    /// The nodes it reads from, by id.
    pub inputs: Vec<u64>,
    /// What the engine says about the node.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub properties: Option<Object<'a>>,
    /// What the node counted.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub metrics: Option<Counters<'a>>,
}

macro_rules! roles {
    ($($(#[$doc:meta])* $role:ident = $name:literal,)*) => {
        /// What a node does. A role this version does not know is read as [`Role::Unknown`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
        #[non_exhaustive]
        pub enum Role {
            $($(#[$doc])* $role,)*
        }

        impl Role {
            /// Every role.
            pub const ALL: &[Self] = &[$(Self::$role,)*];

            /// The name the format gives the role.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$role => $name,)*
                }
            }
        }
    };
}

roles! {
    /// Reads files, tables or streams.
    Scan = "scan",
    /// Reads what the program holds in memory.
    Dataframe = "dataframe",
    /// Keeps rows that meet a condition.
    Selection = "selection",
    /// Keeps columns.
    Projection = "projection",
    /// Computes columns.
    Map = "map",
    /// Renames columns.
    Rename = "rename",
    /// Calls a function of the program or a plugin.
    Function = "function",
    /// Joins on equal keys.
    Join = "join",
    /// Joins on another condition.
    ThetaJoin = "theta_join",
    /// Pairs every row with every row.
    CrossJoin = "cross_join",
    /// Keeps rows that have, or have no, partner.
    SemiAntiJoin = "semi_anti_join",
    /// Groups and aggregates.
    Aggregation = "aggregation",
    /// Sorts.
    Sort = "sort",
    /// Keeps the first rows of an order.
    TopK = "top_k",
    /// Removes duplicates.
    Distinct = "distinct",
    /// Puts inputs one after another.
    Union = "union",
    /// Writes or hands out the result.
    Sink = "sink",
    /// Works for the engine itself, such as sharing a result.
    Engine = "engine",
    /// Anything else.
    #[default]
    Unknown = "unknown",
}

impl Role {
    /// Whether a node gives on the rows it takes, whatever it makes of their columns.
    pub const fn passes_rows_on(self) -> bool {
        matches!(self, Self::Engine | Self::Projection | Self::Map | Self::Rename)
    }
}

impl Serialize for Role {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Role {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = Text::deserialize(deserializer)?;
        Ok(Self::ALL.iter().copied().find(|role| role.as_str() == &*name).unwrap_or_default())
    }
}
