//! Shared views of the model.

use async_trait::async_trait;

use super::MemoryStore;
use crate::error::StoreError;
use crate::views::{SharedView, VIEWS_MAX, VIEWS_OF_PROJECT_MAX, ViewStore};

fn key(view: &SharedView) -> (String, String) {
    (view.name.clone(), view.project.clone())
}

#[async_trait]
impl ViewStore for MemoryStore {
    async fn shared_views(&self, project: Option<&str>) -> Result<Vec<SharedView>, StoreError> {
        let disk = self.disk()?;
        let kept = disk.views.values().filter(|view| project.is_none_or(|project| view.project == project));
        Ok(kept.cloned().collect())
    }

    async fn share_view(&self, view: SharedView) -> Result<bool, StoreError> {
        let views = &mut self.disk()?.views;
        let of_project = views.values().filter(|other| other.project == view.project).count();
        let has_room = views.len() < VIEWS_MAX && of_project < VIEWS_OF_PROJECT_MAX;
        let is_shared = has_room || views.contains_key(&key(&view));
        if is_shared {
            views.insert(key(&view), view);
        }
        Ok(is_shared)
    }

    async fn unshare_view(&self, project: &str, name: &str) -> Result<bool, StoreError> {
        Ok(self.disk()?.views.remove(&(name.to_owned(), project.to_owned())).is_some())
    }

    async fn adopt_views(&self, adopted: Vec<SharedView>) -> Result<usize, StoreError> {
        let views = &mut self.disk()?.views;
        let before = views.len();
        for view in adopted {
            views.entry(key(&view)).or_insert(view);
        }
        Ok(views.len() - before)
    }
}
