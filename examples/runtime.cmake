# The examples of the runtime: each is built against the whole library and run by the tests.
foreach(name hello ping_pong pipeline graceful_shutdown blocking_pool)
  add_executable(example_${name} ${name}.cpp)
  target_link_libraries(example_${name} PRIVATE horae::horae horae_settings)
  if(HORAE_TESTS)
    add_test(NAME example_${name} COMMAND example_${name})
    set_tests_properties(example_${name} PROPERTIES LABELS example TIMEOUT 60)
  endif()
endforeach()
