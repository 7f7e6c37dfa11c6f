//! Which addresses messages may go to.
//!
//! The problem: who may write the file of routes, or the name service of a host in it, could have the service ask
//! addresses that only it can reach: those of its own machine, of its network, or of its cloud's metadata (server-side
//! request forgery). The mechanism: an address that is not public is refused unless the file names it. The address
//! that is connected to is judged, after the name was resolved, so that a name cannot change between the two.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use ipnet::IpNet;
use thiserror::Error;

/// What the file allows beside public addresses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Allowed {
    /// Addresses and networks.
    networks: Vec<IpNet>,
    /// Names of hosts, in lower case: whatever address they have.
    hosts: Vec<String>,
}

/// An address that messages may not go to.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "{host} is at {address}, which is not a public address: name it in allow_private where messages may go there"
)]
pub struct Blocked {
    host: String,
    address: IpAddr,
}

impl Allowed {
    /// Takes up an address, a network, or the name of a host.
    ///
    /// # Errors
    /// When it is none of these.
    pub(crate) fn add(&mut self, text: &str) -> Result<(), String> {
        if let Ok(address) = text.parse::<IpAddr>() {
            self.networks.push(address.to_canonical().into());
        } else if let Ok(network) = text.parse::<IpNet>() {
            self.networks.push(network.trunc());
        } else if is_host(text) {
            self.hosts.push(text.to_ascii_lowercase());
        } else {
            return Err(format!(
                "{text:?} is no address, network or host: expected one like 10.0.0.7, 10.0.0.0/8 or hooks.internal"
            ));
        }
        Ok(())
    }

    /// Whether messages to a host may go to an address of it.
    pub fn admits(&self, host: &str, address: IpAddr) -> bool {
        let address = address.to_canonical();
        is_public(address)
            || self.networks.iter().any(|network| network.contains(&address))
            || self.hosts.iter().any(|name| name.eq_ignore_ascii_case(host))
    }

    /// The addresses of a host that messages may go to.
    ///
    /// # Errors
    /// When there are none.
    pub fn choose(&self, host: &str, found: Vec<SocketAddr>) -> Result<Vec<SocketAddr>, Blocked> {
        let (admitted, refused): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|address| self.admits(host, address.ip()));
        match refused.first() {
            Some(first) if admitted.is_empty() => Err(Blocked { host: host.into(), address: first.ip() }),
            _ => Ok(admitted),
        }
    }
}

/// Whether a text may be the name of a host.
pub(crate) fn is_host(text: &str) -> bool {
    let part = |part: &str| {
        !part.is_empty()
            && part.len() <= 63
            && part.chars().all(|char| char.is_ascii_alphanumeric() || char == '-' || char == '_')
    };
    text.len() <= 253
        && text.split('.').all(part)
        // What looks like an address is a mistyped one.
        && !text.chars().all(|char| char.is_ascii_digit() || char == '.')
}

fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !(a == 0
        || address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        // Shared by the customers of a provider, assigned to protocols, for benchmarks.
        || (a == 100 && (64..128).contains(&b))
        || (a, b, c) == (192, 0, 0)
        || (a == 198 && (b == 18 || b == 19))
        // Multicast, reserved, broadcast.
        || a >= 224)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    // Addresses that carry one of version 4 are what that is.
    let carried = |high: u16, low: u16| Ipv4Addr::from_bits((u32::from(high) << 16) | u32::from(low));
    if let [0, 0, 0, 0, 0, 0, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0x2002, high, low, ..] =
        parts
    {
        return is_public_v4(carried(high, low));
    }
    // Of all others only 2000::/3 is given out; within it, documentation and protocols are not.
    (parts[0] & 0xe000) == 0x2000
        && !(parts[0] == 0x2001 && (parts[1] < 0x200 || parts[1] == 0xdb8))
        && !(parts[0] == 0x3fff && parts[1] < 0x1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admits(allowed: &[&str], host: &str, address: &str) -> bool {
        let mut all = Allowed::default();
        for text in allowed {
            all.add(text).expect(text);
        }
        all.admits(host, address.parse().expect("an address"))
    }

    #[test]
    fn what_is_not_public_is_refused() {
        for address in [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "127.0.0.1",
            "127.9.9.9",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.1",
            "192.0.2.1",
            "192.168.1.1",
            "198.18.0.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::7f00:1",
            "64:ff9b::a00:1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2001:db8::1",
            "2001::1",
            "fc00::1",
            "fd12::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "100::1",
            "3fff::1",
            "64:ff9b:1::1",
        ] {
            assert!(!admits(&[], "example.com", address), "{address}");
        }
        for address in [
            "1.1.1.1",
            "8.8.8.8",
            "100.63.0.1",
            "100.128.0.1",
            "172.15.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "198.17.0.1",
            "223.255.255.255",
            "2606:4700::1111",
            "2a00::1",
            "64:ff9b::808:808",
            "2002:808:808::",
            "::ffff:8.8.8.8",
        ] {
            assert!(admits(&[], "example.com", address), "{address}");
        }
    }

    #[test]
    fn what_the_file_names_is_allowed() {
        assert!(admits(&["10.1.2.3"], "x", "10.1.2.3") && !admits(&["10.1.2.3"], "x", "10.1.2.4"));
        assert!(admits(&["10.1.0.0/16"], "x", "10.1.9.9") && !admits(&["10.1.0.0/16"], "x", "10.2.0.1"));
        assert!(admits(&["127.0.0.1"], "x", "::ffff:127.0.0.1"));
        assert!(admits(&["::1"], "x", "::1") && admits(&["fd00::/8"], "x", "fd12::1"));
        let hosts = ["hooks.Internal", "alertmanager"];
        assert!(admits(&hosts, "Hooks.internal", "10.0.0.1") && admits(&hosts, "alertmanager", "127.0.0.1"));
        assert!(!admits(&hosts, "evil.hooks.internal", "10.0.0.1"));
        let mut all = Allowed::default();
        for text in ["", "10.0.0", "10.0.0.0/33", "a b", "http://x", "x..y", "*"] {
            assert!(all.add(text).is_err(), "{text}");
        }
    }

    #[test]
    fn of_a_name_the_addresses_that_are_allowed_are_chosen() {
        let at = |text: &str| text.parse::<SocketAddr>().expect("an address");
        let all = Allowed::default();
        let mixed = vec![at("127.0.0.1:1"), at("8.8.8.8:1")];
        assert_eq!(all.choose("x", mixed), Ok(vec![at("8.8.8.8:1")]));
        let refused = all.choose("rebound.example", vec![at("169.254.169.254:80")]).expect_err("private");
        assert!(refused.to_string().contains("rebound.example is at 169.254.169.254, which is not a public"));
        assert_eq!(all.choose("x", vec![]), Ok(vec![]));
    }
}
