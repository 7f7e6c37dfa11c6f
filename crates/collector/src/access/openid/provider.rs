//! What the service asks a provider: its metadata and keys, a token for a code, and what it says of a user.

use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use openidconnect::core::{
    CoreAuthDisplay, CoreAuthPrompt, CoreErrorResponseType, CoreGenderClaim, CoreJsonWebKey,
    CoreJweContentEncryptionAlgorithm, CoreJwsSigningAlgorithm, CoreProviderMetadata, CoreResponseType,
    CoreRevocableToken, CoreRevocationErrorResponse, CoreTokenIntrospectionResponse, CoreTokenType,
};
use openidconnect::{
    AccessTokenHash, AdditionalClaims, AsyncHttpClient, AuthenticationFlow, AuthorizationCode, Client,
    CsrfToken, EmptyExtraTokenFields, EndpointMaybeSet, EndpointNotSet, EndpointSet, HttpRequest,
    HttpResponse, IdTokenClaims, IdTokenFields, Nonce, OAuth2TokenResponse, PkceCodeChallenge,
    PkceCodeVerifier, RedirectUrl, StandardErrorResponse, StandardTokenResponse, TokenResponse,
    UserInfoClaims,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::sync::Mutex;

use super::options::OpenIdOptions;

/// How long the provider may take for one answer.
const ANSWER_DEADLINE: Duration = Duration::from_secs(10);
const ANSWER_BYTES_MAX: usize = 1 << 20;
/// Metadata and keys hold for so long. A signature that they do not fit has them read anew.
const KNOWN_FOR: Duration = Duration::from_mins(5);
/// What a provider that is away is not asked again within.
const AWAY_FOR: Duration = Duration::from_secs(3);

/// Claims beyond those of the standard.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Further {
    #[serde(flatten)]
    all: Map<String, Value>,
}

impl AdditionalClaims for Further {}

type Fields = IdTokenFields<
    Further,
    EmptyExtraTokenFields,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJwsSigningAlgorithm,
>;
type Tokens = StandardTokenResponse<Fields, CoreTokenType>;
type Asked = Client<
    Further,
    CoreAuthDisplay,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJsonWebKey,
    CoreAuthPrompt,
    StandardErrorResponse<CoreErrorResponseType>,
    Tokens,
    CoreTokenIntrospectionResponse,
    CoreRevocableToken,
    CoreRevocationErrorResponse,
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;
type Claims = IdTokenClaims<Further, CoreGenderClaim>;

/// An attempt that a browser begins.
pub(super) struct Begun {
    /// Where the browser goes.
    pub(super) url: String,
    pub(super) state: String,
    pub(super) nonce: String,
    /// The secret behind the PKCE challenge.
    pub(super) verifier: String,
}

/// What a provider says of a user.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Identity {
    /// The id of the user at the provider; it never changes.
    pub(super) subject: String,
    /// The name that people know the user by.
    pub(super) name: String,
    pub(super) groups: Vec<String>,
}

/// Why there is no identity: a sentence for the user.
pub(super) type Reason = String;

/// A provider, and what it said of itself lately.
pub(in super::super) struct Provider {
    pub(super) options: OpenIdOptions,
    http: Http,
    known: Mutex<Option<Known>>,
}

struct Known {
    metadata: Result<CoreProviderMetadata, Reason>,
    looked: Instant,
}

impl Provider {
    pub(in super::super) fn new(options: OpenIdOptions) -> Self {
        Self { options, http: Http::new(), known: Mutex::new(None) }
    }

    /// The host of the provider, for people.
    pub(in super::super) fn host(&self) -> &str {
        self.options.host()
    }

    /// Begins an attempt; the provider sends the browser back to an address of this service.
    ///
    /// # Errors
    /// When the provider is away.
    pub(super) async fn begin(&self, back: &str) -> Result<Begun, Reason> {
        let client = self.client(back, KNOWN_FOR).await?;
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let flow = AuthenticationFlow::<CoreResponseType>::AuthorizationCode;
        let request = client.authorize_url(flow, CsrfToken::new_random, Nonce::new_random);
        let request = request.add_scopes(self.options.scopes.iter().cloned());
        let (url, state, nonce) = request.set_pkce_challenge(challenge).url();
        Ok(Begun {
            url: url.into(),
            state: state.into_secret(),
            nonce: nonce.secret().clone(),
            verifier: verifier.into_secret(),
        })
    }

    /// Asks who a code is of.
    ///
    /// # Errors
    /// When the provider is away, refuses the code, or says what does not hold.
    pub(super) async fn finish(&self, code: String, attempt: Begun, back: &str) -> Result<Identity, Reason> {
        let Begun { nonce, verifier, .. } = attempt;
        let nonce = Nonce::new(nonce);
        let client = self.client(back, KNOWN_FOR).await?;
        let request = client.exchange_code(AuthorizationCode::new(code));
        let request = request.map_err(|_| "the provider names no token endpoint".to_owned())?;
        let tokens =
            request.set_pkce_verifier(PkceCodeVerifier::new(verifier)).request_async(&self.http).await;
        let tokens = tokens.map_err(|error| format!("the provider took no code: {}", chain(&error)))?;
        let claims = match verified(&client, &tokens, &nonce) {
            Ok(claims) => claims,
            // It may have other keys by now.
            Err(_) => verified(&self.client(back, Duration::ZERO).await?, &tokens, &nonce)?,
        };
        let more = self.user_info(&client, &tokens, claims).await?;
        self.identity(claims, more.as_ref())
    }

    /// What the provider says of a user beside the token, where that lacks the groups.
    async fn user_info(
        &self,
        client: &Asked,
        tokens: &Tokens,
        claims: &Claims,
    ) -> Result<Option<UserInfoClaims<Further, CoreGenderClaim>>, Reason> {
        let is_told = claims.additional_claims().all.contains_key(&self.options.groups_claim);
        if is_told || client.user_info_url().is_none() {
            return Ok(None);
        }
        let token = tokens.access_token().clone();
        let request = client.user_info(token, Some(claims.subject().clone()));
        let request = request.map_err(|_| "the provider names no userinfo endpoint".to_owned())?;
        let told = request.request_async(&self.http).await;
        told.map(Some).map_err(|error| format!("the provider says nothing of the user: {}", chain(&error)))
    }

    fn identity(
        &self,
        claims: &Claims,
        more: Option<&UserInfoClaims<Further, CoreGenderClaim>>,
    ) -> Result<Identity, Reason> {
        let user_name = claims.preferred_username().or_else(|| more?.preferred_username());
        let email = claims.email().or_else(|| more?.email());
        let subject = claims.subject().as_str().to_owned();
        let name = user_name.map(|name| name.as_str().to_owned());
        let name = name.or_else(|| email.map(|email| email.as_str().to_owned()));
        let claim = &self.options.groups_claim;
        let groups = claims.additional_claims().all.get(claim);
        let groups = groups.or_else(|| more?.additional_claims().all.get(claim));
        Ok(Identity { name: name.unwrap_or_else(|| subject.clone()), subject, groups: groups_of(groups)? })
    }

    async fn client(&self, back: &str, known_for: Duration) -> Result<Asked, Reason> {
        let metadata = self.metadata(known_for).await?;
        let OpenIdOptions { client_id, client_secret, .. } = &self.options;
        let back = RedirectUrl::new(back.to_owned()).map_err(|error| format!("no address: {error}"))?;
        let client = Client::from_provider_metadata(metadata, client_id.clone(), client_secret.clone());
        Ok(client.set_redirect_uri(back))
    }

    async fn metadata(&self, known_for: Duration) -> Result<CoreProviderMetadata, Reason> {
        let mut known = self.known.lock().await;
        let now = queryscope_store::now();
        if let Some(Known { metadata, looked }) = &*known {
            let holds_for = if metadata.is_ok() { known_for } else { AWAY_FOR };
            if now.duration_since(*looked) < holds_for {
                return metadata.clone();
            }
        }
        let found = CoreProviderMetadata::discover_async(self.options.issuer.clone(), &self.http).await;
        let metadata = found.map_err(|error| {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "the provider of logins cannot be asked"
            );
            format!("the provider {} cannot be asked: {}", self.options.issuer.as_str(), chain(&error))
        });
        *known = Some(Known { metadata: metadata.clone(), looked: queryscope_store::now() });
        metadata
    }
}

/// The client of HTTP, with bounds.
struct Http(reqwest::Client);

impl Http {
    fn new() -> Self {
        // Whoever was first has installed one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            // A provider that sent the service elsewhere could have it ask what cannot be reached from outside.
            .redirect(reqwest::redirect::Policy::none())
            .timeout(ANSWER_DEADLINE)
            .build();
        Self(client.unwrap_or_default())
    }
}

impl<'c> AsyncHttpClient<'c> for Http {
    type Error = reqwest::Error;
    type Future = BoxFuture<'c, Result<HttpResponse, reqwest::Error>>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        let client = self.0.clone();
        Box::pin(async move {
            let mut answer = client.execute(request.try_into()?).await?;
            let (status, headers) = (answer.status(), std::mem::take(answer.headers_mut()));
            let mut body = Vec::new();
            while body.len() < ANSWER_BYTES_MAX
                && let Some(piece) = answer.chunk().await?
            {
                // What is cut off is no JSON.
                body.extend_from_slice(&piece[..piece.len().min(ANSWER_BYTES_MAX - body.len())]);
            }
            let mut response = HttpResponse::new(body);
            *response.status_mut() = status;
            *response.headers_mut() = headers;
            Ok(response)
        })
    }
}

/// The claims of a token: signed by the provider, for this client, of this attempt, and not expired.
fn verified<'t>(client: &Asked, tokens: &'t Tokens, nonce: &Nonce) -> Result<&'t Claims, Reason> {
    let token = tokens.id_token().ok_or("the provider sent no ID token")?;
    let verifier = client.id_token_verifier();
    let wrong = |error: &dyn std::error::Error| format!("the ID token does not hold: {}", chain(error));
    let claims = token.claims(&verifier, nonce).map_err(|error| wrong(&error))?;
    if let Some(expected) = claims.access_token_hash() {
        let algorithm = token.signing_alg().map_err(|error| wrong(&error))?;
        let key = token.signing_key(&verifier).map_err(|error| wrong(&error))?;
        let actual = AccessTokenHash::from_token(tokens.access_token(), algorithm, key);
        if actual.map_err(|error| wrong(&error))? != *expected {
            return Err("the access token is not that of the ID token".into());
        }
    }
    Ok(claims)
}

/// Groups as a list of texts, or as one text.
fn groups_of(claim: Option<&Value>) -> Result<Vec<String>, Reason> {
    match claim {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::String(group)) => Ok(vec![group.clone()]),
        Some(Value::Array(groups)) if groups.iter().all(Value::is_string) => {
            Ok(groups.iter().filter_map(Value::as_str).map(Into::into).collect())
        }
        Some(_) => Err("the claim of groups is no list of texts".into()),
    }
}

/// An error and its causes in one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text.chars().take(300).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn groups_are_texts() {
        let of = |claim: Value| groups_of(Some(&claim));
        assert_eq!(groups_of(None), Ok(vec![]));
        assert_eq!(of(json!(null)), Ok(vec![]));
        assert_eq!(of(json!(["a", "b"])), Ok(vec!["a".into(), "b".into()]));
        assert_eq!(of(json!("a b")), Ok(vec!["a b".into()]));
        for claim in [json!(["a", 1]), json!({"a": true}), json!(1)] {
            assert!(of(claim.clone()).is_err(), "{claim}");
        }
    }

    #[tokio::test]
    async fn a_provider_that_is_away_is_named_with_its_reason() {
        let options = OpenIdOptions::new("http://127.0.0.1:9", "q".into()).expect("a provider");
        let provider = Provider::new(options);
        let reason = provider.begin("http://localhost/login/openid/callback").await.err().expect("away");
        assert!(reason.starts_with("the provider http://127.0.0.1:9 cannot be asked: "), "{reason}");
    }
}
