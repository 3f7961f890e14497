//! What to look at, resolved: a login for a live server, or saved files.

use std::path::PathBuf;

use innopool_target::live::Limits;
use innopool_target::login::{
    self, Layer, Login, LoginError, LoginPathFile, OptionFiles, Password, TlsMode,
};

use crate::args::TargetArgs;
use crate::environment::Environment;
use crate::exit::Failure;
use crate::{prompt, terminal};

/// What to look at.
pub(crate) enum Target {
    /// A running server.
    Live { login: Login, limits: Limits },
    /// Files and directories; `-` is stdin.
    Saved(Vec<PathBuf>),
}

/// Lays the arguments, the client's option files and the environment over each other, and asks for
/// the password if need be.
///
/// # Errors
/// What is wrong with the arguments or with an option file.
pub(crate) fn resolve(args: &TargetArgs, environment: &Environment) -> Result<Target, Failure> {
    if !args.from.is_empty() {
        if args.from.iter().any(|path| path.to_string_lossy().contains("://")) {
            return Err(Failure::usage(
                "--from takes files and directories; a URL is given without --from",
            ));
        }
        return Ok(Target::Saved(args.from.clone()));
    }
    let mut layers = vec![typed(args)?];
    if let Some(url) = &args.target {
        layers.push(login::parse_url(&url.0).map_err(wrong)?);
    }
    layers.extend(from_files(args, environment)?);
    layers.push(environment.client.layer().map_err(wrong)?);
    let exists = |path: &str| std::path::Path::new(path).exists();
    let mut resolved = login::resolve(&layers, &exists);
    if resolved.ask_password {
        let password = prompt::password(&resolved.login.display_name())?;
        resolved.login.password = Some(password);
    }
    let tls = &resolved.login.tls;
    if tls.mode >= TlsMode::VerifyCa && tls.ca.is_none() {
        return Err(Failure::usage(format!(
            "--ssl-mode={} needs --ssl-ca: the file with the authority that issued the server's \
             certificate",
            tls.mode
        )));
    }
    let mut limits = Limits::default();
    if let Some(limit) = args.statement_timeout {
        limits.statement = limit;
    }
    Ok(Target::Live { login: resolved.login, limits })
}

/// What the login path file and the option files say, the former first.
fn from_files(args: &TargetArgs, environment: &Environment) -> Result<Vec<Layer>, Failure> {
    let mut layers = Vec::new();
    let named = environment.login_file.clone();
    let personal = || environment.home.as_ref().map(|home| format!("{home}/.mylogin.cnf"));
    let suffix = args.defaults_group_suffix.as_deref();
    let login_paths = match named.or_else(personal) {
        Some(path) => LoginPathFile::read(&path).map_err(wrong)?,
        None => None,
    };
    match (login_paths, &args.login_path) {
        (Some(file), name) => layers.push(file.layer(name.as_deref(), suffix).map_err(wrong)?),
        (None, Some(name)) => {
            return Err(Failure::could_not(format!(
                "there is no login path file to read '{name}' from: mysql_config_editor set \
                 --login-path={name} makes it, MYSQL_TEST_LOGIN_FILE names another"
            )));
        }
        (None, None) => {}
    }
    let files = OptionFiles {
        home: environment.home.clone(),
        defaults_file: args.defaults_file.clone(),
        defaults_extra_file: args.defaults_extra_file.clone(),
        group_suffix: args.defaults_group_suffix.clone(),
        no_defaults: args.no_defaults,
        ..OptionFiles::default()
    };
    let read = files.read().map_err(wrong)?;
    for note in &read.notes {
        terminal::complain(note);
    }
    layers.push(read.layer);
    Ok(layers)
}

/// What was typed as options.
fn typed(args: &TargetArgs) -> Result<Layer, Failure> {
    let mut layer = Layer {
        host: args.host.clone(),
        port: args.port,
        socket: args.socket.clone(),
        user: args.user.clone(),
        tls_ca: args.ssl_ca.clone(),
        tls_cert: args.ssl_cert.clone(),
        tls_key: args.ssl_key.clone(),
        connect_timeout: args.connect_timeout,
        password: args.password.then_some(Password::Ask),
        typed: true,
        ..Layer::default()
    };
    if let Some(mode) = &args.ssl_mode {
        layer
            .set("ssl-mode", Some(mode))
            .map_err(|message| Failure::usage(format!("--ssl-mode: {message}")))?;
    }
    Ok(layer)
}

fn wrong(error: LoginError) -> Failure {
    match error {
        LoginError::OptionFile { .. } | LoginError::LoginPath { .. } => {
            Failure::could_not(error.to_string())
        }
        _ => Failure::usage(error.to_string()),
    }
}
