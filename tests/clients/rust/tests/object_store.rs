//! The crate object_store, which the data systems of Rust read and write blobs with: the tests of its own that every store must
//! pass, on accounts without and with directories, and what it makes of refusals.

use bytes::Bytes;
use futures::TryStreamExt;
use object_store::azure::{MicrosoftAzure, MicrosoftAzureBuilder};
use object_store::{integration, path::Path, signer::Signer, Error, ObjectStore, ObjectStoreExt};
use object_store::{PutMode, PutOptions, PutPayload, RetryConfig, UpdateVersion};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

fn environment(name: &str) -> String {
    std::env::var(name).unwrap()
}

/// A container that no other test has; whoever runs the tests has made some (it takes more than this crate can do).
fn store_at(endpoint: &str) -> MicrosoftAzure {
    static TAKEN: AtomicUsize = AtomicUsize::new(0);
    MicrosoftAzureBuilder::new()
        .with_account(environment("KYANITE_ACCOUNT"))
        .with_access_key(environment("KYANITE_KEY"))
        .with_endpoint(environment(endpoint))
        .with_container_name(format!("rust-{}", TAKEN.fetch_add(1, Ordering::Relaxed)))
        .with_allow_http(true)
        // A refusal is to be seen at once, and as the first request got it.
        .with_retry(RetryConfig { max_retries: 0, ..Default::default() })
        .build()
        .unwrap()
}

async fn content(store: &dyn ObjectStore, path: &Path) -> Bytes {
    store.get(path).await.unwrap().bytes().await.unwrap()
}

/// One test of each function of the crate, for the account at this endpoint.
macro_rules! holds {
    ($account:ident, $endpoint:literal: $($name:ident($($more:tt)*);)*) => {
        mod $account {
            use super::*;
            $(#[tokio::test]
            async fn $name() {
                let store = store_at($endpoint);
                holds!(@call $name, store, $($more)*);
            })*
        }
    };
    (@call $name:ident, $store:ident, store) => { integration::$name(&$store, &$store).await };
    (@call $name:ident, $store:ident, $($value:expr)?) => { integration::$name(&$store $(, $value)?).await };
}

holds! { flat, "KYANITE_BLOB":
    put_get_delete_list();
    put_get_attributes();
    get_opts();
    put_opts(true);
    stream_get();
    list_uses_directories_correctly();
    list_with_delimiter();
    list_with_offset_exclusivity();
    list_paginated(store);
    rename_and_copy();
    copy_if_not_exists();
    copy_rename_nonexistent_object();
    multipart(store);
    multipart_put_part_out_of_order(store);
    multipart_race_condition(false);
    multipart_out_of_order();
}

holds! { lake, "KYANITE_LAKE":
    put_get_attributes();
    get_opts();
    put_opts(true);
    stream_get();
    list_with_delimiter();
    rename_and_copy();
    copy_if_not_exists();
    copy_rename_nonexistent_object();
    multipart(store);
    multipart_out_of_order();
}

#[tokio::test]
async fn a_stale_version_writes_nothing() {
    let store = store_at("KYANITE_BLOB");
    let path = Path::from("guarded");
    let first = store.put(&path, "first".into()).await.unwrap();
    let update = |text: &'static str| {
        let version = UpdateVersion { e_tag: first.e_tag.clone(), version: None };
        store.put_opts(&path, PutPayload::from(text), PutOptions::from(PutMode::Update(version)))
    };
    update("second").await.unwrap();
    assert!(matches!(update("third").await.unwrap_err(), Error::Precondition { .. }));
    let create = store.put_opts(&path, "third".into(), PutOptions::from(PutMode::Create)).await;
    assert!(matches!(create.unwrap_err(), Error::AlreadyExists { .. }));
    assert_eq!(content(&store, &path).await, "second");
}

#[tokio::test]
async fn of_many_that_create_one_wins() {
    let store = store_at("KYANITE_BLOB");
    let path = Path::from("commit/00001.json");
    let all = (0..16).map(|n| store.put_opts(&path, n.to_string().into(), PutOptions::from(PutMode::Create)));
    let results = futures::future::join_all(all).await;
    let winners: Vec<usize> = (0..16).filter(|&n| results[n].is_ok()).collect();
    assert_eq!(winners.len(), 1);
    assert!(results.iter().filter_map(|r| r.as_ref().err()).all(|e| matches!(e, Error::AlreadyExists { .. })));
    assert_eq!(content(&store, &path).await, winners[0].to_string());
}

#[tokio::test]
async fn a_copy_never_replaces_unless_it_may() {
    let store = store_at("KYANITE_LAKE");
    let (from, to) = (Path::from("a/from"), Path::from("b/to"));
    store.put(&from, "from".into()).await.unwrap();
    store.put(&to, "to".into()).await.unwrap();
    let refused = store.copy_if_not_exists(&from, &to).await.unwrap_err();
    assert!(matches!(refused, Error::AlreadyExists { .. }));
    assert_eq!(content(&store, &to).await, "to");
    store.copy(&from, &to).await.unwrap();
    assert_eq!(content(&store, &to).await, "from");
}

#[tokio::test]
async fn many_are_deleted_in_batches() {
    let store = store_at("KYANITE_BLOB");
    let paths: Vec<Path> = (0..300).map(|n| Path::from(format!("many/{n:03}"))).collect();
    for path in &paths {
        store.put(path, "x".into()).await.unwrap();
    }
    let wanted = futures::stream::iter(paths.clone().into_iter().map(Ok));
    let gone: Vec<Path> = store.delete_stream(Box::pin(wanted)).try_collect().await.unwrap();
    assert_eq!(gone.len(), paths.len());
    assert!(store.list(None).try_collect::<Vec<_>>().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_signed_url_serves_its_method_alone() {
    let store = store_at("KYANITE_BLOB");
    // Without a blank: the crate signs its escape, which is not what the service holds the signature against.
    let path = Path::from("signed-file");
    store.put(&path, "content".into()).await.unwrap();
    let get = reqwest::Method::GET;
    let url = store.signed_url(get, &path, Duration::from_secs(60)).await.unwrap();
    assert_eq!(reqwest::get(url.clone()).await.unwrap().text().await.unwrap(), "content");
    let client = reqwest::Client::new();
    let delete = client.delete(url).send().await.unwrap();
    assert_eq!(delete.status(), 403);
    assert_eq!(delete.headers()["x-ms-error-code"], "AuthorizationPermissionMismatch");
    assert_eq!(content(&store, &path).await, "content");
}

#[tokio::test]
async fn what_is_missing_is_not_found() {
    let store = store_at("KYANITE_BLOB");
    let path = Path::from("none");
    assert!(matches!(store.get(&path).await.unwrap_err(), Error::NotFound { .. }));
    assert!(matches!(store.head(&path).await.unwrap_err(), Error::NotFound { .. }));
    store.put(&path, "0123456789".into()).await.unwrap();
    assert_eq!(store.get_range(&path, 2..5).await.unwrap(), "234");
    assert!(store.get_range(&path, 20..30).await.is_err());
}
