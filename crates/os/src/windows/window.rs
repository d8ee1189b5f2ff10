//! Message-only windows, to which other processes send bytes with `WM_COPYDATA`.
//!
//! Such a message bypasses the queue: the sender waits until the window's thread has received it. A thread receives messages
//! while it waits for messages, or while it sends one itself.

use crate::error::Context;
use crate::windows::return_value::wide;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::ptr::{NonNull, null, null_mut};
use std::sync::OnceLock;
use windows_sys::Win32::Foundation::{
    ERROR_INVALID_WINDOW_HANDLE, GetLastError, HWND, LPARAM, LRESULT, SetLastError, WPARAM,
};
use windows_sys::Win32::System::DataExchange::COPYDATASTRUCT;
use windows_sys::Win32::System::LibraryLoader::{GetModuleHandleW, GetProcAddress, LoadLibraryW};
use windows_sys::Win32::System::Threading::INFINITE;
use windows_sys::Win32::UI::WindowsAndMessaging::{
    GWLP_USERDATA, HWND_MESSAGE, MSG, MWMO_INPUTAVAILABLE, PM_NOREMOVE, PM_QS_SENDMESSAGE, QS_SENDMESSAGE,
    WM_COPYDATA, WNDCLASSW,
};

/// The functions of the library for windows, with their types. The library is loaded only if it is needed, because every process
/// that has it starts more slowly.
macro_rules! functions {
    ($($field:ident = $name:literal: fn($($argument:ty),*) -> $result:ty;)*) => {
        struct Functions {
            $($field: unsafe extern "system" fn($($argument),*) -> $result,)*
        }

        impl Functions {
            fn load() -> Option<Functions> {
                let name = wide("user32.dll");
                // SAFETY: the name ends with a zero. The library stays for as long as the process.
                let library = unsafe { LoadLibraryW(name.as_ptr()) };
                if library.is_null() {
                    return None;
                }
                // SAFETY: each name ends with a zero, and each function has the type that Windows documents for its name.
                unsafe {
                    Some(Functions {
                        $($field: std::mem::transmute::<
                            unsafe extern "system" fn() -> isize,
                            unsafe extern "system" fn($($argument),*) -> $result,
                        >(GetProcAddress(library, $name.as_ptr().cast())?),)*
                    })
                }
            }
        }
    };
}

functions! {
    create_window = c"CreateWindowExW": fn(u32, *const u16, *const u16, u32, i32, i32, i32, i32, HWND, HWND, HWND, *const u8) -> HWND;
    default_procedure = c"DefWindowProcW": fn(HWND, u32, WPARAM, LPARAM) -> LRESULT;
    destroy_window = c"DestroyWindow": fn(HWND) -> i32;
    find_window = c"FindWindowExW": fn(HWND, HWND, *const u16, *const u16) -> HWND;
    get_window_data = c"GetWindowLongPtrW": fn(HWND, i32) -> isize;
    wait_for_messages = c"MsgWaitForMultipleObjectsEx": fn(u32, *const HWND, u32, u32, u32) -> u32;
    peek_message = c"PeekMessageW": fn(*mut MSG, HWND, u32, u32, u32) -> i32;
    register_class = c"RegisterClassW": fn(*const WNDCLASSW) -> u16;
    send_message = c"SendMessageW": fn(HWND, u32, WPARAM, LPARAM) -> LRESULT;
    set_window_data = c"SetWindowLongPtrW": fn(HWND, i32, isize) -> isize;
}

/// Returns the functions, and loads them in the first call.
fn functions() -> io::Result<&'static Functions> {
    static LOADED: OnceLock<Option<Functions>> = OnceLock::new();
    let loaded = LOADED.get_or_init(Functions::load).as_ref();
    loaded.ok_or_else(|| io::Error::new(io::ErrorKind::Unsupported, "user32.dll cannot be loaded"))
}

/// Class of all these windows.
const CLASS: &str = "furlong-window";
/// Mark of bytes that furlong's windows send.
const MARK: usize = 0x6675_726c;
/// Answer of a window that has received the bytes. A window that does not know such messages answers 0.
const TAKEN: LRESULT = 1;

/// A window that receives bytes. It belongs to the thread that has created it.
pub struct Window {
    functions: &'static Functions,
    window: HWND,
    /// The state that the window's procedure accesses, by its address.
    inbox: Box<Inbox>,
}

/// Received messages.
#[derive(Debug, Default)]
struct Inbox {
    /// Buffer for the next message, while a receiver waits for it.
    room: Cell<Option<NonNull<[u8]>>>,
    /// Length of the message that was copied there.
    length: Cell<Option<usize>>,
    /// Messages that arrived while no receiver waited.
    early: RefCell<VecDeque<Vec<u8>>>,
}

impl Inbox {
    fn take(&self, bytes: &[u8]) {
        match self.room.take() {
            Some(room) => {
                let count = bytes.len().min(room.len());
                // SAFETY: a receiver provides that buffer until its wait ends, and this code runs inside a call of the same
                // thread, during the wait; the bytes of a message are elsewhere.
                unsafe { bytes.as_ptr().copy_to_nonoverlapping(room.as_ptr().cast(), count) };
                self.length.set(Some(bytes.len()));
            }
            None => self.early.borrow_mut().push_back(bytes.to_vec()),
        }
    }
}

/// The procedure of all these windows.
unsafe extern "system" fn procedure(window: HWND, message: u32, from: WPARAM, data: LPARAM) -> LRESULT {
    let Ok(functions) = functions() else { return 0 };
    if message != WM_COPYDATA {
        // SAFETY: these are the arguments that Windows passed.
        return unsafe { (functions.default_procedure)(window, message, from, data) };
    }
    // SAFETY: the call only reads the number that `Window::new` has set, or zero.
    let inbox = unsafe { (functions.get_window_data)(window, GWLP_USERDATA) } as *const Inbox;
    // SAFETY: the inbox lives as long as the window, and only shared references to it exist. Windows passes the address of the
    // sent structure, which is valid for this call, with the bytes that it names.
    let (Some(inbox), Some(sent)) =
        (unsafe { inbox.as_ref() }, unsafe { (data as *const COPYDATASTRUCT).as_ref() })
    else {
        return 0;
    };
    if sent.dwData != MARK {
        return 0;
    }
    let bytes = match sent.cbData as usize {
        0 => &[],
        // SAFETY: the bytes that the structure names are valid for this call.
        length => unsafe { std::slice::from_raw_parts(sent.lpData.cast::<u8>(), length) },
    };
    inbox.take(bytes);
    TAKEN
}

/// Registers the class, once.
fn class(functions: &Functions) -> io::Result<()> {
    static REGISTERED: OnceLock<u16> = OnceLock::new();
    let name = wide(CLASS);
    let register = || {
        // SAFETY: null means this program.
        let program = unsafe { GetModuleHandleW(null()) };
        let class = WNDCLASSW {
            style: 0,
            lpfnWndProc: Some(procedure),
            cbClsExtra: 0,
            cbWndExtra: 0,
            hInstance: program,
            hIcon: null_mut(),
            hCursor: null_mut(),
            hbrBackground: null_mut(),
            lpszMenuName: null(),
            lpszClassName: name.as_ptr(),
        };
        // SAFETY: the name ends with a zero, and Windows copies the structure and the name.
        unsafe { (functions.register_class)(&class) }
    };
    match REGISTERED.get_or_init(register) {
        0 => Err(io::Error::other("the class of its window could not be registered")),
        _ => Ok(()),
    }
}

impl fmt::Debug for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Window").field(&self.window).finish()
    }
}

impl Window {
    /// Creates an invisible window with this name.
    ///
    /// # Errors
    /// Returns an error if windows cannot be created, for example in a process without a window station.
    pub fn new(name: &str) -> io::Result<Window> {
        let functions = functions()?;
        class(functions)?;
        let (class, title) = (wide(CLASS), wide(name));
        // SAFETY: both names end with a zero; null means no menu, this program and no data to pass on.
        let window = unsafe {
            (functions.create_window)(
                0,
                class.as_ptr(),
                title.as_ptr(),
                0,
                0,
                0,
                0,
                0,
                HWND_MESSAGE,
                null_mut(),
                null_mut(),
                null(),
            )
        };
        if window.is_null() {
            return Err(io::Error::last_os_error()).context(|| "CreateWindowEx");
        }
        let made = Window { functions, window, inbox: Box::default() };
        let address = std::ptr::from_ref(&*made.inbox) as isize;
        // SAFETY: the call only sets a number, which `procedure` reads; `drop` destroys the window before the inbox at that
        // address.
        unsafe { (functions.set_window_data)(window, GWLP_USERDATA, address) };
        Ok(made)
    }

    /// Sends bytes to another window, and waits until its thread has received them.
    ///
    /// # Errors
    /// Returns `BrokenPipe` if the window no longer exists.
    #[inline]
    pub fn send(&self, to: WindowName, bytes: &[u8]) -> io::Result<()> {
        let length = u32::try_from(bytes.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        let data = COPYDATASTRUCT { dwData: MARK, cbData: length, lpData: bytes.as_ptr().cast_mut().cast() };
        // SAFETY: Windows copies the bytes, and no code writes to them; they stay valid for the call.
        let said = unsafe {
            SetLastError(0);
            (self.functions.send_message)(to.0, WM_COPYDATA, self.window as WPARAM, &raw const data as LPARAM)
        };
        if said == TAKEN {
            return Ok(());
        }
        // SAFETY: the call only reads the error number of this thread.
        match unsafe { GetLastError() } {
            0 => Err(io::Error::other("a window did not accept the message")),
            ERROR_INVALID_WINDOW_HANDLE => Err(io::ErrorKind::BrokenPipe.into()),
            code => Err(io::Error::from_raw_os_error(code as i32)),
        }
    }

    /// Waits for a message and returns its length; copies as much of it into `buffer` as fits.
    ///
    /// # Errors
    /// Returns an error if the wait fails.
    #[inline]
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(early) = self.inbox.early.borrow_mut().pop_front() {
            let count = early.len().min(buffer.len());
            buffer[..count].copy_from_slice(&early[..count]);
            return Ok(early.len());
        }
        self.inbox.room.set(Some(NonNull::from(buffer)));
        let length = self.wait();
        self.inbox.room.set(None);
        length
    }

    fn wait(&self) -> io::Result<usize> {
        loop {
            let mut message = MSG::default();
            let flags = PM_NOREMOVE | PM_QS_SENDMESSAGE;
            // SAFETY: the call gets a valid place for a posted message, of which there are none; sent messages are passed to the
            // procedure.
            unsafe { (self.functions.peek_message)(&mut message, null_mut(), 0, 0, flags) };
            if let Some(length) = self.inbox.length.take() {
                return Ok(length);
            }
            // SAFETY: the call waits for no handle.
            let woken = unsafe {
                (self.functions.wait_for_messages)(0, null(), INFINITE, QS_SENDMESSAGE, MWMO_INPUTAVAILABLE)
            };
            if woken != 0 {
                return Err(io::Error::last_os_error()).context(|| "MsgWaitForMultipleObjectsEx");
            }
        }
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        // SAFETY: the window is this thread's own; no message is sent to it afterwards.
        unsafe { (self.functions.destroy_window)(self.window) };
    }
}

/// A window of any process.
#[derive(Debug, Clone, Copy)]
pub struct WindowName(HWND);

impl WindowName {
    /// Returns the window that was created with this name.
    ///
    /// # Errors
    /// Returns `NotFound` if there is none.
    pub fn find(name: &str) -> io::Result<WindowName> {
        let functions = functions()?;
        let (class, title) = (wide(CLASS), wide(name));
        // SAFETY: both names end with a zero; null begins with the first window.
        let window =
            unsafe { (functions.find_window)(HWND_MESSAGE, null_mut(), class.as_ptr(), title.as_ptr()) };
        if window.is_null() { Err(io::ErrorKind::NotFound.into()) } else { Ok(WindowName(window)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::windows::identity::random;

    fn name() -> String {
        format!("furlong-test-{:x}", random().unwrap())
    }

    #[test]
    fn bytes_go_to_a_window_of_the_same_thread() {
        let (own, other) = (name(), name());
        let (window, receiver) = (Window::new(&own).unwrap(), Window::new(&other).unwrap());
        let to = WindowName::find(&other).unwrap();
        for bytes in [&b"first"[..], b"", b"third and long"] {
            window.send(to, bytes).unwrap();
        }
        let mut buffer = [0; 8];
        assert_eq!(receiver.receive(&mut buffer).unwrap(), 5);
        assert_eq!(&buffer[..5], b"first");
        assert_eq!(receiver.receive(&mut buffer).unwrap(), 0);
        assert_eq!(receiver.receive(&mut buffer).unwrap(), 14);
        assert_eq!(&buffer, b"third an");
    }

    #[test]
    fn a_sender_waits_for_a_window_of_another_thread() {
        let other = name();
        let (told, tell) = std::sync::mpsc::channel();
        let receiver = {
            let other = other.clone();
            std::thread::spawn(move || {
                let window = Window::new(&other).unwrap();
                told.send(()).unwrap();
                let mut buffer = [0; 4];
                let first = window.receive(&mut buffer).unwrap();
                (first, window.receive(&mut buffer).unwrap(), buffer)
            })
        };
        tell.recv().unwrap();
        let window = Window::new(&name()).unwrap();
        let to = WindowName::find(&other).unwrap();
        window.send(to, b"one").unwrap();
        window.send(to, b"four").unwrap();
        assert_eq!(receiver.join().unwrap(), (3, 4, *b"four"));
        let gone = window.send(to, b"late").unwrap_err();
        assert_eq!(gone.kind(), io::ErrorKind::BrokenPipe);
        assert_eq!(WindowName::find(&other).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
