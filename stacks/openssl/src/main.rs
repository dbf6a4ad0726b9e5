//! The endpoint is in C (`c/`): this hands it the command line.

use std::ffi::{c_char, c_int, CString};
use std::os::unix::ffi::OsStringExt;

extern "C" {
    fn endpoint_main(count: c_int, arguments: *mut *mut c_char) -> c_int;
}

fn main() {
    // C's main may write into its arguments and keep them: they live as long as the process.
    let mut arguments: Vec<*mut c_char> = std::env::args_os()
        .filter_map(|argument| CString::new(argument.into_vec()).ok())
        .map(CString::into_raw)
        .collect();
    let count = c_int::try_from(arguments.len()).expect("no more arguments than an int can count");
    arguments.push(std::ptr::null_mut());
    // SAFETY: `arguments` is an array of `count` NUL-terminated strings and a null pointer, as C's main gets.
    let status = unsafe { endpoint_main(count, arguments.as_mut_ptr()) };
    std::process::exit(status);
}
