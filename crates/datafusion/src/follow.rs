//! Puts wrappers around the nodes of a plan.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::error::Result;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use queryscope_client::Telemetry;

use crate::described::{NodeIds, describe};
use crate::node::NodeExec;
use crate::run::{Followed, Planned};

/// Wraps every node of a plan so that its runs are followed.
///
/// # Errors
/// When a node does not take its wrapped inputs.
pub(crate) fn follow(
    plan: Arc<dyn ExecutionPlan>,
    logical: LogicalPlan,
    threads: usize,
    telemetry: &Telemetry,
    planned: Planned,
) -> Result<Arc<dyn ExecutionPlan>> {
    let plan = unwrapped(plan)?;
    let (described, ids) = describe(&plan, logical, threads);
    let followed = Arc::new(Followed::new(telemetry.clone(), Arc::new(described), planned));
    wrap(&plan, &followed, &ids, &mut HashMap::new())
}

/// The plan without wrappers that it holds from queries it was put together of.
fn unwrapped(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let unwrap = |plan: Arc<dyn ExecutionPlan>| {
        Ok(match NodeExec::of(&*plan) {
            Some(wrapper) => Transformed::yes(Arc::clone(&wrapper.inner)),
            None => Transformed::no(plan),
        })
    };
    if plan.exists(|node| Ok(NodeExec::of(&**node).is_some()))? {
        plan.transform_up(unwrap).data()
    } else {
        Ok(plan)
    }
}

fn wrap(
    plan: &Arc<dyn ExecutionPlan>,
    followed: &Arc<Followed>,
    ids: &NodeIds,
    done: &mut HashMap<usize, Arc<dyn ExecutionPlan>>,
) -> Result<Arc<dyn ExecutionPlan>> {
    let Some(id) = ids.of(plan) else { return Ok(Arc::clone(plan)) };
    if let Some(wrapped) = done.get(&id) {
        return Ok(Arc::clone(wrapped));
    }
    let children = plan.children().into_iter().map(|child| wrap(child, followed, ids, done));
    let children = children.collect::<Result<Vec<_>>>()?;
    let inner = if children.is_empty() {
        Arc::clone(plan)
    } else {
        replace_children_if_necessary(Arc::clone(plan), children)?
    };
    let wrapped: Arc<dyn ExecutionPlan> = Arc::new(NodeExec::new(inner, id, followed));
    done.insert(id, Arc::clone(&wrapped));
    Ok(wrapped)
}
