//! A headless Chromium, driven over a pair of pipes by its DevTools protocol: each message is JSON that ends with a
//! zero byte. No port is opened, and nothing is fetched.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::mem::take;
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Timeout of an answer.
const WATCHDOG: Duration = Duration::from_secs(60);
/// The names under which distributions ship it.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// A browser that ends with its value.
pub struct Chromium {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    last_id: u64,
    /// Notifications of the browser that answer no request.
    events: Vec<Value>,
    /// Browser context of the current test, without the storage of other tests.
    context: Value,
    _profile: tempfile::TempDir,
}

/// Idle browsers. They are reused because starting a browser takes as long as many a test.
struct Pool {
    lent: usize,
    idle: Vec<Chromium>,
}

static POOL: Mutex<Pool> = Mutex::new(Pool { lent: 0, idle: Vec::new() });

fn pool() -> MutexGuard<'static, Pool> {
    POOL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A browser that returns to the pool after a passed test. The last test stops all browsers, so that none outlives the suite.
pub struct LentBrowser(Option<Chromium>);

impl Deref for LentBrowser {
    type Target = Chromium;

    fn deref(&self) -> &Chromium {
        self.0.as_ref().expect("a browser until the end")
    }
}

impl DerefMut for LentBrowser {
    fn deref_mut(&mut self) -> &mut Chromium {
        self.0.as_mut().expect("a browser until the end")
    }
}

impl Drop for LentBrowser {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let context = json!({ "browserContextId": self.context });
            self.call(None, "Target.disposeBrowserContext", context);
        }
        let mut pool = pool();
        pool.lent -= 1;
        pool.idle.extend(self.0.take().filter(|_| !std::thread::panicking()));
        let ended = if pool.lent == 0 { take(&mut pool.idle) } else { Vec::new() };
        drop(pool);
        drop(ended);
    }
}

/// A page in it.
pub struct Tab<'a> {
    browser: &'a mut Chromium,
    session: String,
}

impl Chromium {
    /// Returns a browser from the pool, or starts a new one. Returns `None` if no browser is installed.
    pub fn start() -> Option<LentBrowser> {
        let idle = {
            let mut pool = pool();
            pool.lent += 1;
            pool.idle.pop()
        };
        let Some(mut browser) = idle.or_else(Chromium::new) else {
            pool().lent -= 1;
            return None;
        };
        let context = browser.call(None, "Target.createBrowserContext", json!({}));
        browser.context = context["browserContextId"].clone();
        Some(LentBrowser(Some(browser)))
    }

    fn new() -> Option<Chromium> {
        let is_there = |name: &&&str| {
            let version =
                Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
            version.is_ok_and(|status| status.success())
        };
        NAMES.iter().find(is_there).map(|program| Chromium::of(program))
    }

    fn of(program: &str) -> Chromium {
        let profile = tempfile::tempdir().expect("a temporary directory");
        // Chromium reads from descriptor 3 and writes to 4.
        let script = "exec \"$0\" \"$@\" 3<&0 4>&1 0</dev/null 1>/dev/null 2>/dev/null";
        let mut child = Command::new("sh")
            .args([
                "-c",
                script,
                program,
                "--headless",
                "--remote-debugging-pipe",
                "--disable-gpu",
                "--no-first-run",
            ])
            // Root has no sandbox, and containers often none; the page is our own.
            .args([
                "--no-sandbox",
                "--disable-dev-shm-usage",
                "--hide-scrollbars",
                "--disable-background-networking",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("sh starts");
        let input = child.stdin.take().expect("a pipe");
        let output = child.stdout.take().expect("a pipe");
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            let mut message = Vec::new();
            while output.read_until(0, &mut message).is_ok_and(|bytes| bytes > 0) {
                message.pop_if(|byte| *byte == 0);
                let Ok(value) = serde_json::from_slice(&message) else { break };
                if sender.send(value).is_err() {
                    break;
                }
                message.clear();
            }
        });
        Chromium {
            child,
            input,
            messages,
            last_id: 0,
            events: Vec::new(),
            context: Value::Null,
            _profile: profile,
        }
    }

    fn next(&mut self, until: Instant) -> Option<Value> {
        let left = until.saturating_duration_since(Instant::now());
        match self.messages.recv_timeout(left) {
            Ok(value) => Some(value),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => panic!("Chromium ended: {:?}", self.child.try_wait()),
        }
    }

    /// Calls a method and waits for its answer.
    fn call(&mut self, session: Option<&str>, method: &str, parameters: Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        let mut message = json!({ "id": id, "method": method, "params": parameters });
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.input.write_all(&bytes).and_then(|()| self.input.flush()).expect("Chromium reads");
        let until = Instant::now() + WATCHDOG;
        while let Some(value) = self.next(until) {
            if value["id"] == id {
                assert!(value.get("error").is_none(), "{method}: {value:#}");
                return value["result"].clone();
            }
            self.events.push(value);
        }
        panic!("{method}: no answer in {WATCHDOG:?}");
    }

    /// Opens a page of this size with all notifications enabled.
    pub fn tab(&mut self, width: u32, height: u32) -> Tab<'_> {
        let blank = json!({ "url": "about:blank", "browserContextId": self.context });
        let target = self.call(None, "Target.createTarget", blank);
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let session = self.call(None, "Target.attachToTarget", attach)["sessionId"]
            .as_str()
            .expect("a session")
            .to_owned();
        self.events.clear();
        let mut tab = Tab { browser: self, session };
        for domain in ["Page", "Runtime", "Log", "Network"] {
            tab.call(&format!("{domain}.enable"), json!({}));
        }
        tab.resize(width, height);
        tab
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // The browser is a child process, which ends its own children.
        let _ = self.input.write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        let end = Instant::now() + Duration::from_secs(5);
        while Instant::now() < end && !matches!(self.child.try_wait(), Ok(Some(_))) {
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Tab<'_> {
    /// Calls a method of the page.
    pub fn call(&mut self, method: &str, parameters: Value) -> Value {
        let session = self.session.clone();
        self.browser.call(Some(&session), method, parameters)
    }

    /// Gives the window another size.
    pub fn resize(&mut self, width: u32, height: u32) {
        let mobile = width < 500;
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile });
        self.call("Emulation.setDeviceMetricsOverride", metrics);
    }

    /// Opens a file and waits until it is loaded.
    pub fn open(&mut self, path: &Path) {
        let url = format!("file://{}", path.display());
        self.browser.events.clear();
        self.call("Page.navigate", json!({ "url": url }));
        let until = Instant::now() + WATCHDOG;
        while !self.browser.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            let event = self.browser.next(until).expect("the page loads");
            self.browser.events.push(event);
        }
    }

    /// Returns the value of an expression; a promise is awaited.
    #[track_caller]
    pub fn value(&mut self, expression: &str) -> Value {
        let parameters = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let result = self.call("Runtime.evaluate", parameters);
        assert!(result.get("exceptionDetails").is_none(), "{expression}: {result:#}");
        result["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    #[track_caller]
    pub fn wait_for(&mut self, expression: &str) {
        let end = Instant::now() + WATCHDOG;
        while self.value(expression) != true {
            assert!(Instant::now() < end, "not true in {WATCHDOG:?}: {expression}; {:#?}", self.troubles());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Scrolls through the page, so that every chart comes into view, and waits until all are drawn.
    #[track_caller]
    pub fn draw_all_charts(&mut self) {
        self.wait_for(
            "(() => { const waiting = document.querySelector('figure.chart:not([data-state])');
                if (waiting) waiting.scrollIntoView({ behavior: 'instant', block: 'center' });
                return !waiting; })()",
        );
    }

    /// Returns the events of one kind since the page was opened.
    pub fn events(&self, method: &str) -> Vec<Value> {
        let events = self.browser.events.iter().filter(|event| event["method"] == method);
        events.map(|event| event["params"].clone()).collect()
    }

    /// Returns the errors of the page: exceptions, console errors, and requests that its policy blocked.
    pub fn troubles(&self) -> Vec<Value> {
        let mut troubles = self.events("Runtime.exceptionThrown");
        let of_error = |event: &Value| matches!(event["type"].as_str(), Some("error" | "warning" | "assert"));
        troubles.extend(self.events("Runtime.consoleAPICalled").into_iter().filter(of_error));
        let is_error = |event: &Value| matches!(event["entry"]["level"].as_str(), Some("error" | "warning"));
        troubles.extend(self.events("Log.entryAdded").into_iter().filter(is_error));
        troubles
    }

    /// Returns the addresses requested since the page was opened, without `data:` and `blob:` URLs, which load no
    /// other bytes.
    pub fn requests(&self) -> Vec<String> {
        let requests = self.events("Network.requestWillBeSent");
        let urls =
            requests.iter().map(|event| event["request"]["url"].as_str().unwrap_or_default().to_owned());
        urls.filter(|url| !url.starts_with("data:") && !url.starts_with("blob:")).collect()
    }

    /// Clicks in the middle of the first element that a selector finds, as a hand would.
    #[track_caller]
    pub fn click(&mut self, selector: &str) {
        let place = self.value(&format!(
            "(() => {{ const found = document.querySelector({selector:?});
                found.scrollIntoView({{ behavior: 'instant', block: 'center' }});
                const box = found.getBoundingClientRect();
                return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
        ));
        for kind in ["mousePressed", "mouseReleased"] {
            let event =
                json!({ "type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", event);
        }
    }

    /// Drags the mouse between two places.
    pub fn drag(&mut self, from: (f64, f64), to: (f64, f64)) {
        for (kind, (x, y), buttons) in
            [("mousePressed", from, 1), ("mouseMoved", to, 1), ("mouseReleased", to, 0)]
        {
            let event = json!({ "type": kind, "x": x, "y": y, "button": "left", "buttons": buttons, "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", event);
        }
    }

    /// Double-clicks at a place.
    pub fn double_click(&mut self, (x, y): (f64, f64)) {
        for count in [1, 2] {
            for kind in ["mousePressed", "mouseReleased"] {
                let event = json!({ "type": kind, "x": x, "y": y, "button": "left", "clickCount": count });
                self.call("Input.dispatchMouseEvent", event);
            }
        }
    }

    /// Moves the pointer to a place of the window.
    pub fn point_at(&mut self, x: f64, y: f64) {
        self.call("Input.dispatchMouseEvent", json!({ "type": "mouseMoved", "x": x, "y": y }));
    }

    /// Presses and releases a key.
    pub fn press(&mut self, key: &str, text: &str) {
        for (kind, text) in [("keyDown", text), ("keyUp", "")] {
            let code = match key {
                "Tab" => 9,
                "Enter" => 13,
                " " => 32,
                _ => 0,
            };
            let event =
                json!({ "type": kind, "key": key, "code": key, "text": text, "windowsVirtualKeyCode": code });
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// Saves a picture of the window or of the whole page if `FURLONG_SHOTS` names a directory.
    pub fn picture(&mut self, name: &str, whole: bool) {
        use base64::Engine;
        let Some(folder) = std::env::var_os("FURLONG_SHOTS") else { return };
        let shot =
            self.call("Page.captureScreenshot", json!({ "format": "png", "captureBeyondViewport": whole }));
        let data = shot["data"].as_str().expect("a picture");
        let bytes = base64::engine::general_purpose::STANDARD.decode(data).expect("base64");
        std::fs::write(Path::new(&folder).join(format!("{name}.png")), bytes)
            .expect("a directory for pictures");
    }
}
