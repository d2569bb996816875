# run(COMMAND...): stops with the command's output if it fails, or if it prints a warning.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT code EQUAL 0 OR output MATCHES "[Ww]arning")
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nexit code ${code}\n${output}")
  endif()
endfunction()
