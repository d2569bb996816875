// SPDX-License-Identifier: Apache-2.0
//
// add_reader and its kin: which handle runs when a file descriptor is ready.
#include <unistd.h>

#include <cerrno>
#include <climits>

#include "loop.hpp"
#include "socket_read.hpp"

namespace horae::python {
namespace {

// What selectors says of the same objects.
bool fd_of(PyObject* file, int& fd) {
    ref number;
    if (PyLong_Check(file)) {
        number = ref::share(file);
    } else {
        number = ref(PyObject_CallMethodNoArgs(file, interned.fileno));
        if (number)
            number = ref(PyNumber_Long(number.get()));
        if (!number) {
            PyErr_Clear();
            PyErr_Format(PyExc_ValueError, "Invalid file object: %R", file);
            return false;
        }
    }
    const long value = PyLong_AsLong(number.get());
    if (value == -1 && PyErr_Occurred())
        return false;
    if (value < 0 || value > INT_MAX) {
        PyErr_Format(PyExc_ValueError, "Invalid file descriptor: %ld", value);
        return false;
    }
    fd = static_cast<int>(value);
    return true;
}

// The entry for a registered file, also when the file was closed since; null when there is none.
watched_fd* find(loop_state& state, PyObject* file, int& fd) {
    if (fd_of(file, fd)) {
        const auto index = static_cast<std::size_t>(fd);
        return index < state.watched.size() && state.watched[index].mask ? &state.watched[index] : nullptr;
    }
    if (!PyErr_ExceptionMatches(PyExc_ValueError))
        return nullptr;
    for (std::size_t i = 0; i < state.watched.size(); ++i) {
        if (state.watched[i].mask && state.watched[i].file == file) {
            PyErr_Clear();
            fd = static_cast<int>(i);
            return &state.watched[i];
        }
    }
    return nullptr;
}

int control(loop_state& state, int operation, int fd, std::uint32_t mask) {
    epoll_event event{};
    event.events = mask;
    event.data.fd = fd;
    return epoll_ctl(state.epoll_fd, operation, fd, &event);
}

bool register_mask(loop_state& state, int fd, std::uint32_t before, std::uint32_t after) {
    if (before == after)
        return true;
    int failed = control(state, before ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, after);
    // The number was closed and opened again behind our back; the kernel has forgotten it.
    if (failed && errno == ENOENT && before)
        failed = control(state, EPOLL_CTL_ADD, fd, after);
    if (failed)
        PyErr_SetFromErrno(PyExc_OSError);
    return !failed;
}

PyObject*& side(watched_fd& entry, std::uint32_t mask) {
    return mask == EPOLLIN ? entry.reader : entry.writer;
}

void drop_handle(PyObject* owned) {
    if (!owned)
        return;
    handle_object* handle = as_handle(owned);
    handle->loop = nullptr;
    handle->where = place::nowhere;
    cancel_handle(handle);
    Py_DECREF(owned);
}

PyObject* add(PyObject* self, PyObject* const* args, Py_ssize_t count, std::uint32_t mask,
              const char* function) {
    loop_state& state = state_of(self);
    if (count < 2) {
        PyErr_Format(PyExc_TypeError, "%s() takes a file descriptor and a callback", function);
        return nullptr;
    }
    if (!check_open(state))
        return nullptr;
    if (state.fork_generation != fork_generation() && !reopen_after_fork(self))
        return nullptr;
    int fd = 0;
    if (!fd_of(args[0], fd))
        return nullptr;
    PyObject* context = PyContext_CopyCurrent();
    if (!context)
        return nullptr;
    ref handle(
        as_object(new_handle(&handle_type, as_loop(self), args[1], args + 2, count - 2, context, false)));
    if (!handle)
        return nullptr;
    const auto index = static_cast<std::size_t>(fd);
    if (index >= state.watched.size())
        state.watched.resize(index + 1);
    watched_fd& entry = state.watched[index];
    if (!register_mask(state, fd, entry.mask, entry.mask | mask))
        return nullptr;
    as_handle(handle.get())->where = place::watch;
    if (mask == EPOLLIN && count == 2 && is_socket_read(args[1])) {
        as_handle(handle.get())->form = argument_form::socket_read;
        as_handle(handle.get())->index = static_cast<std::uint32_t>(fd);
    }
    entry.mask |= mask;
    ref old_file(entry.file);
    entry.file = Py_NewRef(args[0]);
    PyObject* old = std::exchange(side(entry, mask), Py_NewRef(handle.get()));
    drop_handle(old);
    return handle.release();
}

PyObject* remove(PyObject* self, PyObject* file, std::uint32_t mask) {
    loop_state& state = state_of(self);
    if (state.closed)
        Py_RETURN_FALSE;
    if (state.fork_generation != fork_generation() && !reopen_after_fork(self))
        return nullptr;
    int fd = 0;
    watched_fd* entry = find(state, file, fd);
    if (!entry) {
        if (PyErr_Occurred())
            return nullptr;
        Py_RETURN_FALSE;
    }
    if (!(entry->mask & mask))
        Py_RETURN_FALSE;
    remove_watch(state, fd, mask);
    Py_RETURN_TRUE;
}

PyObject* foreign(PyObject* self, const char* name, PyObject* const* args, Py_ssize_t count) {
    ref function(PyObject_GetAttrString(interned.foreign_watch, name));
    if (!function)
        return nullptr;
    ref positional(PyTuple_New(count + 1));
    if (!positional)
        return nullptr;
    PyTuple_SET_ITEM(positional.get(), 0, Py_NewRef(self));
    for (Py_ssize_t i = 0; i < count; ++i)
        PyTuple_SET_ITEM(positional.get(), i + 1, Py_NewRef(args[i]));
    return PyObject_Call(function.get(), positional.get(), nullptr);
}

PyObject* add_reader(PyObject* self, PyObject* const* args, Py_ssize_t count) {
    if (state_of(self).foreign_selector)
        return foreign(self, "_add_reader", args, count);
    return add(self, args, count, EPOLLIN, "_add_reader");
}

PyObject* add_writer(PyObject* self, PyObject* const* args, Py_ssize_t count) {
    if (state_of(self).foreign_selector)
        return foreign(self, "_add_writer", args, count);
    return add(self, args, count, EPOLLOUT, "_add_writer");
}

PyObject* remove_reader(PyObject* self, PyObject* file) {
    if (state_of(self).foreign_selector)
        return foreign(self, "_remove_reader", &file, 1);
    return remove(self, file, EPOLLIN);
}

PyObject* remove_writer(PyObject* self, PyObject* file) {
    if (state_of(self).foreign_selector)
        return foreign(self, "_remove_writer", &file, 1);
    return remove(self, file, EPOLLOUT);
}

// [(file, fd, mask of selectors.EVENT_*, reader, writer), ...] for loop._selector.
PyObject* watched(PyObject* self, PyObject*) {
    const loop_state& state = state_of(self);
    ref list(PyList_New(0));
    for (std::size_t fd = 0; list && fd < state.watched.size(); ++fd) {
        const watched_fd& entry = state.watched[fd];
        if (!entry.mask)
            continue;
        const int mask = (entry.mask & EPOLLIN ? 1 : 0) | (entry.mask & EPOLLOUT ? 2 : 0);
        ref item(Py_BuildValue("OniOO", entry.file, static_cast<Py_ssize_t>(fd), mask,
                               entry.reader ? entry.reader : Py_None, entry.writer ? entry.writer : Py_None));
        if (!item || PyList_Append(list.get(), item.get()) < 0)
            return nullptr;
    }
    return list.release();
}

} // namespace

void remove_watch(loop_state& state, int fd, std::uint32_t mask) {
    watched_fd* entry = &state.watched[static_cast<std::size_t>(fd)];
    entry->mask &= ~mask;
    // A failure means that the descriptor is closed: then it is out of the epoll set as well.
    control(state, entry->mask ? EPOLL_CTL_MOD : EPOLL_CTL_DEL, fd, entry->mask);
    ref file_gone(entry->mask ? nullptr : std::exchange(entry->file, nullptr));
    PyObject* handle = std::exchange(side(*entry, mask), nullptr);
    drop_handle(handle);
}

void drop_watches(loop_state& state) {
    std::vector<watched_fd> watched;
    watched.swap(state.watched);
    for (watched_fd& entry : watched) {
        drop_handle(std::exchange(entry.reader, nullptr));
        drop_handle(std::exchange(entry.writer, nullptr));
        Py_CLEAR(entry.file);
    }
}

PyMethodDef watch_methods[] = {
    {"_add_reader", method(add_reader), METH_FASTCALL, nullptr},
    {"_add_writer", method(add_writer), METH_FASTCALL, nullptr},
    {"_remove_reader", remove_reader, METH_O, nullptr},
    {"_remove_writer", remove_writer, METH_O, nullptr},
    {"_watched", watched, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

} // namespace horae::python
