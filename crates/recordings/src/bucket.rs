//! Buckets, with credentials and endpoints from the variables that each cloud's own tools read.

use std::sync::Arc;
use std::time::Duration;

use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{BackoffConfig, ObjectStore, RetryConfig};

use crate::error::RecordingError;
use crate::location::Cloud;

/// How long and how often a request that failed is tried again: readers wait for it, and sealing tries again anyway.
const RETRY_TIME: Duration = Duration::from_secs(5);
const RETRIES_MAX: usize = 3;
const BACKOFF_MAX: Duration = Duration::from_secs(1);

/// Opens a bucket; nothing is asked of it yet.
pub(crate) fn open(cloud: Cloud, bucket: &str, prefix: &str) -> Result<Arc<dyn ObjectStore>, RecordingError> {
    // reqwest takes the provider of the process; when there is one already, that one will do.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let retry = RetryConfig {
        backoff: BackoffConfig { max_backoff: BACKOFF_MAX, ..BackoffConfig::default() },
        max_retries: RETRIES_MAX,
        retry_timeout: RETRY_TIME,
    };
    let prefix = Path::parse(prefix).map_err(object_store::Error::from)?;
    Ok(match cloud {
        Cloud::S3 => {
            let s3 = AmazonS3Builder::from_env().with_bucket_name(bucket).with_retry(retry).build()?;
            Arc::new(PrefixStore::new(s3, prefix))
        }
        Cloud::Google => {
            let google =
                GoogleCloudStorageBuilder::from_env().with_bucket_name(bucket).with_retry(retry).build()?;
            Arc::new(PrefixStore::new(google, prefix))
        }
        Cloud::Azure => {
            let azure =
                MicrosoftAzureBuilder::from_env().with_container_name(bucket).with_retry(retry).build()?;
            Arc::new(PrefixStore::new(azure, prefix))
        }
    })
}
