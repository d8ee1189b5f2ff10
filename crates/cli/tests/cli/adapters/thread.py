
        import threading
        (told, tell), (done, do) = os.pipe(), os.pipe()

        def help_with():
            with open(f"/proc/self/task/{threading.get_native_id()}/comm", "w") as name:
                name.write("helper")
            while os.read(told, 1):
                os.getppid()
                os.write(do, b"1")

        threading.Thread(target=help_with, daemon=True).start()
        send = self.socket.sendall

        def send_with_help(message):
            os.write(tell, b"1")
            os.read(done, 1)
            send(message)

        return send_with_help, receive
