//! Where libkaisched.so is: the folder of KAISCHED_LIBRARY (the path of the library), else what pkg-config says.

use std::path::{Path, PathBuf};
use std::{env, process::Command};

fn folder_of_pkg_config() -> PathBuf {
    let asked = Command::new("pkg-config").args(["--variable=libdir", "kaisched"]).output();
    match asked {
        Ok(said) if said.status.success() => PathBuf::from(String::from_utf8_lossy(&said.stdout).trim()),
        _ => panic!("libkaisched.so not found: set KAISCHED_LIBRARY, or PKG_CONFIG_PATH for an installed kaisched"),
    }
}

fn main() {
    println!("cargo:rerun-if-env-changed=KAISCHED_LIBRARY");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    let folder = match env::var_os("KAISCHED_LIBRARY") {
        Some(library) => Path::new(&library).parent().expect("a path of a file").to_owned(),
        None => folder_of_pkg_config(),
    };
    println!("cargo:rustc-link-search=native={}", folder.display());
    println!("cargo:rustc-link-lib=dylib=kaisched");
    println!("cargo:rustc-link-arg=-Wl,-rpath,{}", folder.display());
}
