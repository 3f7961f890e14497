//! What the environment says: the variables the `mysql` client reads, passed in by the command line,
//! which alone may read them.

use super::layer::port;
use super::{Layer, LoginError, Password, Secret};

/// Values of environment variables; `None` for those that are not set.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Environment {
    /// `MYSQL_PWD`.
    pub mysql_pwd: Option<Secret>,
    /// `MYSQL_HOST`.
    pub mysql_host: Option<String>,
    /// `MYSQL_TCP_PORT`.
    pub mysql_tcp_port: Option<String>,
    /// `MYSQL_UNIX_PORT`: the socket's path.
    pub mysql_unix_port: Option<String>,
    /// The name of the operating system's account, which the `mysql` client takes for a user name
    /// when it is given none.
    pub account: Option<String>,
}

impl Environment {
    /// What these values say of the server. A variable that is set to nothing says nothing.
    ///
    /// # Errors
    /// [`LoginError::Value`] when `MYSQL_TCP_PORT` is not a port.
    pub fn layer(&self) -> Result<Layer, LoginError> {
        let said = |value: &Option<String>| value.clone().filter(|text| !text.is_empty());
        let port = match said(&self.mysql_tcp_port) {
            None => None,
            Some(text) => port(&text).map_err(|message| LoginError::Value {
                name: "MYSQL_TCP_PORT".to_owned(),
                message,
            })?,
        };
        let password = self.mysql_pwd.clone().filter(|secret| !secret.is_empty());
        Ok(Layer {
            host: said(&self.mysql_host),
            port,
            socket: said(&self.mysql_unix_port),
            user: said(&self.account),
            password: password.map(Password::Given),
            ..Layer::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_clients_variables() {
        let environment = Environment {
            mysql_pwd: Some(Secret::new("tulip")),
            mysql_host: Some(String::new()),
            mysql_tcp_port: Some("3310".to_owned()),
            mysql_unix_port: Some("/run/x.sock".to_owned()),
            account: Some("ada".to_owned()),
        };
        let layer = environment.layer().unwrap();
        assert_eq!(layer.password, Some(Password::Given(Secret::new("tulip"))));
        assert_eq!((layer.host, layer.port), (None, Some(3310)));
        assert_eq!(layer.socket.as_deref(), Some("/run/x.sock"));
        assert_eq!(layer.user.as_deref(), Some("ada"));
        assert!(!format!("{environment:?}").contains("tulip"));
    }

    #[test]
    fn names_the_variable_that_is_wrong() {
        let environment =
            Environment { mysql_tcp_port: Some("mysql".to_owned()), ..Environment::default() };
        let message = environment.layer().unwrap_err().to_string();
        assert_eq!(message, "MYSQL_TCP_PORT: the port must be a number from 1 to 65535");
    }
}
