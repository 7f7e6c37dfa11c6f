use super::*;

fn asking(accepted: &'static str) -> HeaderMap {
    HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_static(accepted))])
}

#[test]
fn gzip_goes_to_who_takes_it() {
    for accepted in ["gzip", "br, GZIP;q=0.5", "deflate,gzip"] {
        assert!(takes_gzip(&asking(accepted)), "{accepted}");
    }
    for accepted in ["br", "gzip;q=0", "x-gzip", ""] {
        assert!(!takes_gzip(&asking(accepted)), "{accepted}");
    }
    assert!(!takes_gzip(&HeaderMap::new()));
}

#[test]
fn who_does_not_take_it_gets_the_same_text() {
    let plain = answer(index(), &asking("identity"));
    assert_eq!(plain.headers().get(header::CONTENT_ENCODING), None);
    assert!(unpacked(index()).starts_with(b"<!doctype html>"));
    let packed = answer(index(), &asking("gzip"));
    assert_eq!(packed.headers()[header::CONTENT_ENCODING], "gzip");
    assert_eq!(packed.headers()[header::VARY], plain.headers()[header::VARY]);
}
