pub use sateen::sync::*;

pub const fn const_mutex<T>(value: T) -> Mutex<T> {
    Mutex::new(value)
}

pub const fn const_rwlock<T>(value: T) -> RwLock<T> {
    RwLock::new(value)
}
