// D-Bus by its reference library: method calls that want no reply, with an array of bytes, from one process to the other or
// through a bus that is the responder's own.

#include "adapter.hpp"

#include <dbus/dbus.h>
#include <poll.h>

#include <array>

namespace {

bool over_bus;

// An error of the library, thrown with its message.
struct Error {
    DBusError error;

    Error() { dbus_error_init(&error); }
    ~Error() { dbus_error_free(&error); }
    bool is_set() const { return dbus_error_is_set(&error); }
    void check(const char* call) const {
        if (is_set()) adapter::fail(std::string(call) + ": " + error.message);
    }
};

constexpr std::array<const char*, 2> NAMES{"furlong.Responder", "furlong.Initiator"};

struct Connection {
    DBusConnection* connection = nullptr;
    const char* other;

    Connection(const adapter::SetUp& set_up, adapter::Ready& ready) : other(over_bus ? NAMES[!set_up.initiator] : nullptr) {
        auto path = set_up.folder + "/socket";
        char* escaped = dbus_address_escape_value(path.c_str());
        auto address = std::string("unix:path=") + escaped;
        dbus_free(escaped);
        if (!set_up.initiator) adapter::remove_at_end(path);
        if (!set_up.initiator && over_bus) start_bus(set_up, ready, address);
        if (!set_up.initiator && !over_bus) accept(address);
        else connect(address);
        dbus_connection_set_exit_on_disconnect(connection, false);
        dbus_connection_set_max_message_size(connection, DBUS_MAXIMUM_MESSAGE_LENGTH);
        dbus_connection_set_max_received_size(connection, DBUS_MAXIMUM_MESSAGE_LENGTH);
        if (over_bus) join_bus(set_up);
    }
    ~Connection() {
        dbus_connection_close(connection);
        dbus_connection_unref(connection);
    }

    // A bus without limits that a message meets, but the one that stops a sender whose messages are not taken.
    static void start_bus(const adapter::SetUp& set_up, adapter::Ready& ready, const std::string& address) {
        auto file = set_up.folder + "/bus.conf";
        adapter::remove_at_end(file);
        std::ofstream(file) << "<busconfig><type>session</type><listen>" << address << "</listen><auth>EXTERNAL</auth>"
                            << "<policy context=\"default\"><allow send_destination=\"*\"/><allow receive_sender=\"*\"/><allow own=\"*\"/>"
                            << "</policy><limit name=\"max_message_size\">" << DBUS_MAXIMUM_MESSAGE_LENGTH
                            << "</limit><limit name=\"max_incoming_bytes\">" << DBUS_MAXIMUM_MESSAGE_LENGTH
                            << "</limit><limit name=\"max_outgoing_bytes\">" << 1000000000 << "</limit></busconfig>\n";
        auto bus = adapter::start_server({"dbus-daemon", "--nofork", "--nopidfile", "--nosyslog", "--config-file=" + file},
                                         set_up.folder);
        ready.processes = {{bus, "other", "dbus-daemon"}};
    }

    void connect(const std::string& address) {
        adapter::until("the responder", [&] {
            Error error;
            connection = dbus_connection_open_private(address.c_str(), &error.error);
            if (error.is_set() && !dbus_error_has_name(&error.error, DBUS_ERROR_FILE_NOT_FOUND) &&
                !dbus_error_has_name(&error.error, DBUS_ERROR_NO_SERVER))
                error.check("dbus_connection_open_private");
            return connection != nullptr;
        });
    }

    // Waits for one connection. The library accepts it when it is told that its socket is readable.
    void accept(const std::string& address) {
        Error error;
        DBusServer* server = dbus_server_listen(address.c_str(), &error.error);
        error.check("dbus_server_listen");
        auto take = [](DBusServer*, DBusConnection* came, void* self) {
            static_cast<Connection*>(self)->connection = dbus_connection_ref(came);
        };
        dbus_server_set_new_connection_function(server, take, this, nullptr);
        DBusWatch* watch = nullptr;
        auto add = [](DBusWatch* added, void* kept) -> dbus_bool_t { return *static_cast<DBusWatch**>(kept) = added, true; };
        dbus_server_set_watch_functions(server, add, [](DBusWatch*, void*) {}, nullptr, &watch, nullptr);
        while (!connection) {
            pollfd socket{dbus_watch_get_unix_fd(watch), POLLIN, 0};
            if (poll(&socket, 1, -1) > 0) dbus_watch_handle(watch, DBUS_WATCH_READABLE);
        }
        dbus_server_disconnect(server);
        dbus_server_unref(server);
    }

    // Takes a name, and waits for the other one.
    void join_bus(const adapter::SetUp& set_up) {
        Error error;
        dbus_bus_register(connection, &error.error);
        error.check("dbus_bus_register");
        dbus_bus_request_name(connection, NAMES[set_up.initiator], DBUS_NAME_FLAG_DO_NOT_QUEUE, &error.error);
        error.check("dbus_bus_request_name");
        adapter::until("the other role", [&] {
            bool is_there = dbus_bus_name_has_owner(connection, other, &error.error);
            error.check("dbus_bus_name_has_owner");
            return is_there;
        });
    }

    void send(const unsigned char* message, std::size_t length) {
        auto call = dbus_message_new_method_call(other, "/furlong", "furlong.Messages", "Take");
        dbus_message_set_no_reply(call, true);
        dbus_message_append_args(call, DBUS_TYPE_ARRAY, DBUS_TYPE_BYTE, &message, int(length), DBUS_TYPE_INVALID);
        dbus_connection_send(connection, call, nullptr);
        dbus_message_unref(call);
        dbus_connection_flush(connection);
    }

    std::size_t receive(unsigned char* message, std::size_t length) {
        for (;;) {
            auto came = dbus_connection_pop_message(connection);
            if (!came) {
                if (!dbus_connection_read_write(connection, -1)) adapter::fail("the peer has disconnected");
                continue;
            }
            std::unique_ptr<DBusMessage, decltype(&dbus_message_unref)> holder(came, dbus_message_unref);
            // The bus also sends signals about names.
            if (!dbus_message_is_method_call(came, "furlong.Messages", "Take")) {
                if (dbus_message_get_type(came) == DBUS_MESSAGE_TYPE_ERROR) adapter::fail(dbus_message_get_error_name(came));
                if (dbus_message_is_signal(came, DBUS_INTERFACE_LOCAL, "Disconnected")) adapter::fail("the peer has disconnected");
                continue;
            }
            Error error;
            const unsigned char* bytes;
            int count;
            dbus_message_get_args(came, &error.error, DBUS_TYPE_ARRAY, DBUS_TYPE_BYTE, &bytes, &count, DBUS_TYPE_INVALID);
            error.check("dbus_message_get_args");
            if (std::size_t(count) <= length) std::memcpy(message, bytes, std::size_t(count));
            return std::size_t(count);
        }
    }
};

}  // namespace

int main(int, char** arguments) {
    over_bus = arguments[1] && std::string(arguments[1]) == "bus";
    int major, minor, micro;
    dbus_get_version(&major, &minor, &micro);
    adapter::Row row{over_bus ? "dbus-bus" : "dbus-peer", over_bus ? "D-Bus method calls without reply, through a private dbus-daemon"
                                                                   : "D-Bus method calls without reply, from peer to peer"};
    row.versions = {{"libdbus", std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(micro)}};
    row.max_size_bytes = DBUS_MAXIMUM_ARRAY_LENGTH, row.limited_by = "the longest array of D-Bus";
    // The bus lives on.
    if (over_bus) row.peer_death = "unnoticed";
    return adapter::run<Connection>(row);
}
